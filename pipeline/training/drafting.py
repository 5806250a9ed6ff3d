"""The drafter that a training begins with, and the teacher beside it."""

from dataclasses import dataclass
from pathlib import Path

import torch

from pipeline.artifacts import read_json
from pipeline.checkpoint import load_drafter
from pipeline.drafter_config import for_target
from pipeline.errors import DataError
from pipeline.initialisation import initialise
from pipeline.model import Drafter
from pipeline.model_fingerprint import same_model
from pipeline.shard_layout import Layout
from pipeline.target_weights import TargetWeights, read_layer, read_target_weights
from pipeline.teacher import Teacher
from pipeline.training.config import TrainConfig
from pipeline.training.corpus import Corpus
from pipeline.vocab import DraftVocabulary, build_vocabulary


@dataclass(frozen=True, kw_only=True)
class Start:
    """On the device, in float32."""

    drafter: Drafter
    teacher: Teacher
    origin: str
    """What the weights are, in words."""
    coverage: float
    """Share of the training split's generated tokens that the drafter can propose."""
    held_out_coverage: float | None


def prepare(config: TrainConfig, corpus: Corpus, *, device: torch.device, precision: torch.dtype, resume: Path | None) -> Start:
    """Build or load the drafter: from `resume`, from the checkpoint to continue, or anew from the target.

    Raises DataError and ConfigError: a checkpoint of another target or other feature layers, a vocabulary that holds none of
    the tokens, weights that cannot be read.
    """
    layout = corpus.source.layout
    target = read_target_weights(Path(config.target))
    _check_target(config, target, layout)
    checkpoint = resume or (Path(config.saving.continue_from) if config.saving.continue_from else None)
    if checkpoint is not None:
        drafter, origin = _loaded(checkpoint, target, layout), f"checkpoint {checkpoint.name}"
    else:
        drafter, origin = _new(config, corpus, target)
    vocabulary = drafter.vocabulary
    coverage = vocabulary.coverage(corpus.counts)
    return Start(
        drafter=drafter.to(device),
        teacher=_teacher(target, vocabulary, layout, device=device, precision=precision),
        origin=origin,
        coverage=coverage,
        held_out_coverage=vocabulary.coverage(corpus.held_out_counts) if int(corpus.held_out_counts.sum()) else None,
    )


def _check_target(config: TrainConfig, target: TargetWeights, layout: Layout) -> None:
    wanted = [layout.vocab_size, layout.hidden_size]
    if list(target.embedding.shape) != wanted:
        found = list(target.embedding.shape)
        raise DataError(f"{config.target}: its embedding is {found}, the hidden states belong to one of {wanted}")


def _loaded(folder: Path, target: TargetWeights, layout: Layout) -> Drafter:
    """A checkpoint with its own vocabulary mapping: a rebuilt one would relabel every row of its head."""
    if (folder / "manifest.json").exists():
        trained_for = str(read_json(folder / "manifest.json").get("lineage", {}).get("target", ""))
        if "@" in trained_for and not same_model(trained_for, layout.target):
            raise DataError(f"{folder}: a drafter for {trained_for}; the hidden states are those of {layout.target}")
    drafter = load_drafter(folder, target.embedding.float())
    if drafter.config.feature_layers != layout.feature_layers:
        ours, theirs = (list(layers.hidden_states) for layers in (drafter.config.feature_layers, layout.feature_layers))
        raise DataError(f"{folder}: a drafter for feature layers {ours}; the hidden states are those of layers {theirs}")
    return drafter


def _new(config: TrainConfig, corpus: Corpus, target: TargetWeights) -> tuple[Drafter, str]:
    layers = corpus.source.layout.feature_layers
    vocabulary = build_vocabulary(corpus.counts, config.draft_vocab_size)
    sizes = {"intermediate_size": config.intermediate_size} if config.intermediate_size else {}
    shape = for_target(target.config, draft_vocab_size=config.draft_vocab_size, feature_layers=layers, **sizes)
    drafter = Drafter(shape, vocabulary, target.embedding.float())
    late = {}
    if config.initialisation == "target":
        late = read_layer(Path(config.target), layers.hidden_states[-1], dtype=torch.float32)
    taken = initialise(drafter, config.initialisation, seed=config.seed, head=target.head.float(), layer=late)
    return drafter, f"new, {len(taken)} tensors from the target"


def _teacher(
    target: TargetWeights, vocabulary: DraftVocabulary, layout: Layout, *, device: torch.device, precision: torch.dtype
) -> Teacher:
    norm = None if layout.last_hidden == "post_norm" else target.final_norm
    if norm is not None:
        norm = type(norm)(weight=norm.weight.to(device), eps=norm.eps)
    on_device = DraftVocabulary(vocabulary.token_ids.to(device), vocabulary.target_size)
    return Teacher(target.head.to(device, precision), on_device, norm=norm, logit_softcap=target.logit_softcap)
