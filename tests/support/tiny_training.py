"""A training small enough for a second: a random target of seven layers, its greedy answers, their states on disk."""

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import torch
from transformers import AutoModelForCausalLM, LlamaConfig

from pipeline.artifacts import AttemptFolder
from pipeline.batching import Document
from pipeline.control import ControlReader
from pipeline.drafter_events import StepLogged
from pipeline.event import Event
from pipeline.feature_layers import FeatureLayers
from pipeline.model_fingerprint import model_fingerprint
from pipeline.shard_layout import Layout
from pipeline.shards import ShardWriter
from pipeline.stage import Outcome, Stage
from pipeline.training.config import CheckpointConfig, EvalConfig, LossConfig, OptimizerConfig, TrainConfig
from pipeline.training.work import train_first
from tests.support.tiny_model import SHAPE, VOCAB_SIZE, save_tiny_model

LAYERS = FeatureLayers.default(7)
PROMPT, ANSWER = 5, 14
DATASETS = ("B1_tiny", "B2_tiny")


def save_target(folder: Path) -> Path:
    return save_tiny_model(LlamaConfig(**SHAPE | {"num_hidden_layers": 7, "tie_word_embeddings": True}), folder)


@torch.no_grad()
def answers(target: Path, count: int) -> list[Document]:
    """Documents of a random prompt and what the target says to it, with its states after the final norm."""
    model: Any = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32)
    # Few tokens to begin with, so that answers repeat each other and a drafter finds something to learn.
    ids = torch.randint(3, 40, (count, PROMPT), generator=torch.Generator().manual_seed(1))
    for _ in range(ANSWER):
        ids = torch.cat([ids, model(ids).logits[:, -1:].argmax(-1)], dim=1)
    states = model(ids, output_hidden_states=True).hidden_states
    mask = torch.arange(ids.shape[1]) >= PROMPT
    features = torch.cat([states[layer] for layer in LAYERS.hidden_states], dim=-1)
    return [
        Document(
            token_ids=ids[n],
            loss_mask=mask,
            features=features[n],
            last_hidden=states[-1][n],
            dataset=DATASETS[n % len(DATASETS)],
            name=f"prompt-{n}",
        )
        for n in range(count)
    ]


def store(folder: Path, target: Path, documents: list[Document], *, vocab_size: int = VOCAB_SIZE) -> Path:
    layout = Layout(
        target=model_fingerprint(target),
        hidden_size=SHAPE["hidden_size"],
        vocab_size=vocab_size,
        feature_layers=LAYERS,
        last_hidden="post_norm",
        dtype="float32",
    )
    writer = ShardWriter(folder, layout)
    for document in documents:
        writer.add(document)
    writer.finish(inputs={})
    return folder


def tiny_config(root: Path, **changes: Any) -> TrainConfig:
    """A training of twenty float32 steps over what `make_files` stored below `root`."""
    config = TrainConfig(
        project="tiny",
        target=str(root / "target"),
        checkpoints=str(root / "checkpoints"),
        hidden=(str(root / "hidden"),),
        draft_vocab_size=64,
        objective=LossConfig(steps=3),
        optimizer=OptimizerConfig(learning_rate=3e-3),
        evaluation=EvalConfig(held_out_share=0.2, every_steps=10, decode_prompts=0, draft_steps=2),
        saving=CheckpointConfig(every_steps=10),
        tokens_per_batch=80,
        max_steps=20,
        precision="float32",
        device="cpu",
    )
    return replace(config, **changes)


def make_files(root: Path, *, documents: int = 40) -> Path:
    """`root`/target and `root`/hidden."""
    target = save_target(root / "target")
    store(root / "hidden", target, answers(target, documents))
    return root


def train(
    config: TrainConfig, attempt: Path, *, control: BinaryIO | None = None, watch: Callable[[Event], None] = lambda event: None
) -> tuple[Outcome, list[Event]]:
    """Carry out a training in this process; its outcome, and what it told on the way. `control`: what people ask."""
    attempt.mkdir(exist_ok=True)
    told: list[Event] = []
    with closing(Stage("train", AttemptFolder(attempt))) as stage:
        stage.control = ControlReader(control)
        stage.watchers += [told.append, watch]
        return train_first(config, stage), told


def stop_at(step: int) -> Callable[[Event], None]:
    """A watcher that asks this process to stop once it has told of a step."""

    def watch(event: Event) -> None:
        if isinstance(event, StepLogged) and event.step == step:
            os.kill(os.getpid(), signal.SIGTERM)

    return watch


def step_losses(told: Sequence[Event]) -> list[float]:
    return [event.loss for event in told if isinstance(event, StepLogged)]
