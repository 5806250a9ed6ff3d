"""Which draft source an engine gets: none, prompt lookup, or a drafter that fits its target."""

from pathlib import Path

import torch

from pipeline.artifacts import read_json
from pipeline.checkpoint import load_drafter
from pipeline.checkpoint_check import check_folder
from pipeline.draft_shape import DraftShape
from pipeline.drafter_config import from_json
from pipeline.errors import ConfigError, DataError
from pipeline.model import Drafter
from pipeline.serving.embedded.drafter_runner import DrafterRunner
from pipeline.serving.embedded.drafter_source import DrafterSource
from pipeline.serving.embedded.lookup import PromptLookup
from pipeline.serving.embedded.runner import Runner, check_layers


def lookup_source(runner: Runner, shape: DraftShape) -> PromptLookup:
    return PromptLookup(runner.slots, shape.draft_tokens - 1)


def refuse_misfit(folder: Path, target: Path, layers: int) -> None:
    """Look at a checkpoint folder before the model that it drafts for is loaded. `target`: that model's folder.

    Raises DataError that names folder, file and tensor when it is broken or was made for another target.
    """
    faults = [
        str(finding)
        for finding in check_folder(folder, target=read_json(target / "config.json"))
        if finding.severity == "error"
    ]
    if not faults:
        config = from_json(read_json(folder / "config.json"))
        try:
            check_layers(config.feature_layers.hidden_states, layers)
        except ConfigError as error:
            faults = [f"config.json: {error}"]
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise DataError(f"{folder} is no drafter for {target}: {faults[0]}{more}")


def checkpoint_source(folder: Path, runner: Runner, shape: DraftShape) -> DrafterSource:
    """A drafter from its checkpoint folder, which `refuse_misfit` has let pass."""
    return drafter_source(load_drafter(folder, runner.embedding.float()), runner, shape)


def drafter_source(drafter: Drafter, runner: Runner, shape: DraftShape) -> DrafterSource:
    """A drafter in memory; its weights are copied. Raises ConfigError when it was made for another target."""
    ours = (drafter.config.vocab_size, drafter.config.hidden_size)
    theirs = (runner.vocab_size, runner.hidden_size)
    if ours != theirs:
        raise ConfigError(
            "the drafter was made for a target with a vocabulary of {} and a hidden size of {}, ".format(*ours)
            + "this one has {} and {}".format(*theirs)
        )
    rows = runner.context_length + shape.steps * shape.topk
    packed = DrafterRunner(drafter, slots=runner.slots, context=rows, dtype=_draft_dtype(runner))
    return DrafterSource(packed, shape)


def _draft_dtype(runner: Runner) -> torch.dtype:
    """Half the bytes where the processor multiplies bfloat16: guesses may be rounded, as the target has the last word."""
    fast = runner.embedding.device.type == "cpu" and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.bfloat16 if fast else runner.embedding.dtype
