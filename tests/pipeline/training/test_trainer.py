"""The loop as a whole, on a problem of a second."""

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from pipeline.artifacts import read_json
from pipeline.checkpoint import load_training_state
from pipeline.checkpoint_check import check_folder
from pipeline.control import Pause, Resume, SetConcurrency, Stop, encode
from pipeline.drafter_events import CheckpointSaved, EvalLogged, StepLogged
from pipeline.errors import DataError, DiskFullError
from pipeline.event import Event
from pipeline.events import StatusChanged, Warned
from pipeline.training.config import CheckpointConfig, EvalConfig, LossConfig, OptimizerConfig, TrainConfig
from tests.support.disks import SmallDisk
from tests.support.tiny_training import DATASETS, answers, step_losses, stop_at, store, tiny_config, train

GOLDEN = [
    12.494305, 13.25852, 12.729402, 12.365901, 12.738944, 12.86494, 11.87658, 10.917838, 12.960086, 11.241717,
    12.004436, 10.817654, 11.284478, 11.278842, 11.28136, 11.09542, 11.971279, 11.591273, 10.809517, 11.387854,
]  # fmt: skip
"""Twenty float32 steps on a CPU."""


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def equal(one: Any, other: Any) -> bool:  # noqa: ANN401  (parts of state dicts)
    """Of two training states."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(equal(*pair) for pair in zip(one, other, strict=True))
    return bool(one == other)


@pytest.mark.usefixtures("every_step")
@pytest.mark.slow
def test_losses_follow_the_golden_curve(root: Path) -> None:
    outcome, told = train(tiny_config(root), root / "attempt")
    assert step_losses(told) == pytest.approx(GOLDEN, rel=1e-4)
    assert outcome.interrupted is None
    assert outcome.summary["steps"] == 20


@pytest.mark.slow
@pytest.mark.usefixtures("every_step")
def test_half_precision_stays_within_one_percent(root: Path) -> None:
    _, told = train(tiny_config(root, precision="bfloat16"), root / "attempt")
    assert step_losses(told) == pytest.approx(GOLDEN, rel=1e-2)


@pytest.mark.slow
@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("name", ["training/state.pt", "model.safetensors", "manifest.json"])
def test_damaged_checkpoint_is_set_aside_and_the_one_before_resumed(root: Path, name: str) -> None:
    config = tiny_config(root, max_steps=10, checkpoints=str(root / f"damaged-{Path(name).stem}"))
    config = replace(config, saving=CheckpointConfig(every_steps=5))
    train(config, root / f"attempt-{Path(name).stem}-1")
    newest = Path(config.checkpoints) / "step-000010"
    (newest / name).write_bytes((newest / name).read_bytes()[:-7])
    _, told = train(config, root / f"attempt-{Path(name).stem}-2")
    warnings = [event.text for event in told if isinstance(event, Warned)]
    assert any(f"step-000010/{name}" in text and "kept as damaged-step-000010" in text for text in warnings)
    assert [event.step for event in told if isinstance(event, StepLogged)] == [6, 7, 8, 9, 10]
    assert (newest.with_name("damaged-step-000010") / name).exists()
    assert check_folder(newest) == []


@pytest.mark.usefixtures("every_step")
@pytest.mark.slow
def test_stopped_and_resumed_training_equals_an_uninterrupted_one_bit_for_bit(root: Path) -> None:
    config = tiny_config(root, objective=LossConfig(steps=3, one_step_share=0.4), accumulation=2)
    whole = replace(config, checkpoints=str(root / "whole"))
    _, uninterrupted = train(whole, root / "attempt0")

    stopped, before = train(config, root / "attempt1", watch=stop_at(10))
    assert stopped.interrupted == "stopped by SIGTERM"
    assert stopped.summary["steps"] == 10
    resumed, after = train(config, root / "attempt2")
    assert (resumed.interrupted, resumed.summary["steps"]) == (None, 20)

    assert step_losses(before) + step_losses(after) == step_losses(uninterrupted)
    ours, theirs = (Path(name.checkpoints) / "step-000020" for name in (config, whole))
    assert equal(weights(ours), weights(theirs))
    states = [load_training_state(folder) | {"elapsed_s": 0} for folder in (ours, theirs)]
    assert equal(*states)
    assert states[0]["position"]["step"] == 20


@pytest.mark.slow
def test_every_checkpoint_is_whole_and_says_where_it_comes_from(root: Path) -> None:
    config = tiny_config(root, saving=CheckpointConfig(every_steps=6, keep_last=2))
    _, told = train(config, root / "attempt")
    saved = [event for event in told if isinstance(event, CheckpointSaved)]
    assert [event.step for event in saved] == [6, 12, 18, 20]
    kept = sorted(path.name for path in (root / "checkpoints").glob("step-*"))
    best = Path(next(event.path for event in reversed(saved) if event.best)).name
    assert kept == sorted({best, "step-000018", "step-000020"})
    folder = root / "checkpoints" / "step-000020"
    assert check_folder(folder, target=read_json(root / "target" / "config.json")) == []
    manifest = read_json(folder / "manifest.json")
    lineage = manifest["lineage"]
    assert (lineage["step"], lineage["seed"], lineage["project"]) == (20, 0, "tiny")
    assert lineage["target"].startswith("target@")
    assert [name.rpartition("/")[2] for name in lineage["inputs"]] == ["hidden"]
    assert 0 < lineage["vocabulary"]["held_out_coverage"] <= 1
    assert [row["dataset"] for row in lineage["datasets"]] == list(DATASETS)
    evaluated = next(event for event in reversed(told) if isinstance(event, EvalLogged))
    assert manifest["metrics"] == {"eval_loss": evaluated.loss, "simulated_accept_length": evaluated.accept_length}
    assert saved[-1].metrics == manifest["metrics"]
    assert (folder / "README.md").exists()


@pytest.mark.slow
def test_training_learns(root: Path) -> None:
    config = tiny_config(root, max_steps=60, saving=CheckpointConfig(every_steps=1000))
    _, told = train(config, root / "attempt")
    losses = [event.loss for event in told if isinstance(event, EvalLogged)]
    assert losses[-1] < losses[0] - 0.3


def test_control_messages_pause_resume_and_stop(root: Path) -> None:
    reading, writing = os.pipe()
    statuses: list[StatusChanged] = []

    def watch(event: Event) -> None:
        if isinstance(event, StatusChanged):
            statuses.append(event)
            if event.paused:
                os.write(
                    writing, encode(Resume()) + encode(SetConcurrency(n=3)) + b"nonsense\n" + encode(Stop(reason="by ada"))
                )

    os.write(writing, encode(Pause()))
    with open(reading, "rb", buffering=0) as control:  # noqa: PTH123  (a file descriptor)
        outcome, told = train(tiny_config(root, max_steps=100_000), root / "attempt", control=control, watch=watch)
        os.close(writing)
    assert outcome.interrupted == "by ada"
    assert [(status.text, status.paused) for status in statuses][-2:] == [("paused", True), ("", False)]
    warnings = [event.text for event in told if isinstance(event, Warned)]
    assert any("set_concurrency changes nothing" in text for text in warnings)
    assert any("not a control message" in text for text in warnings)
    saved = [event for event in told if isinstance(event, CheckpointSaved)]
    assert not saved or saved[-1].step == outcome.summary["steps"]


def test_stop_before_the_first_step_saves_nothing(root: Path) -> None:
    control = io.BytesIO(encode(Stop(reason="stopped by ada")))
    told: list[Event] = []
    with pytest.raises(Exception, match="stopped by ada"):
        train(tiny_config(root), root / "attempt", control=control, watch=told.append)
    assert not list((root / "checkpoints").glob("step-*"))


def diverging(root: Path, *, every_steps: int) -> TrainConfig:
    config = tiny_config(root, optimizer=OptimizerConfig(learning_rate=1e30))
    evaluation = replace(config.evaluation, every_steps=every_steps)
    return replace(config, evaluation=evaluation, saving=CheckpointConfig(every_steps=every_steps))


def test_loss_that_is_not_finite_names_step_and_batch(root: Path) -> None:
    named = r"step \d+: the (loss|gradient) is NaN or infinite, in the batch of B\d_tiny/prompt-\d+"
    with pytest.raises(DataError, match=named):
        train(diverging(root, every_steps=1000), root / "attempt")


def test_drafter_beyond_use_is_not_saved(root: Path) -> None:
    with pytest.raises(DataError, match="step 1: the loss on held-out answers is NaN or infinite"):
        train(diverging(root, every_steps=1), root / "attempt")
    assert not list((root / "checkpoints").glob("*step-*"))


@pytest.mark.slow
def test_finished_training_has_nothing_left_to_do(root: Path) -> None:
    train(tiny_config(root), root / "attempt1")
    outcome, told = train(tiny_config(root), root / "attempt2")
    assert outcome.summary["steps"] == 20
    assert not any(isinstance(event, StepLogged | CheckpointSaved) for event in told)


@pytest.mark.slow
def test_minutes_end_a_training_early(root: Path) -> None:
    config = tiny_config(root, max_steps=1_000_000, max_minutes=0.02, evaluation=EvalConfig(held_out_share=0.0))
    outcome, told = train(config, root / "attempt")
    assert outcome.interrupted is None
    steps = [event for event in told if isinstance(event, StepLogged)]
    assert 0 < steps[-1].total_steps < 100_000
    assert steps[-1].learning_rate < 2e-3


def test_full_disk_is_named_and_leaves_the_last_checkpoint(root: Path, small_disk: SmallDisk) -> None:
    config = tiny_config(root, checkpoints=str(small_disk.path / "checkpoints"), max_steps=50)
    config = replace(config, saving=CheckpointConfig(every_steps=1, keep_last=50))
    with pytest.raises(DiskFullError, match="disk full while writing"):
        train(config, root / "attempt")
    folders = list((small_disk.path / "checkpoints").glob("step-*"))
    assert folders
    assert [check_folder(folder) for folder in folders] == [[]] * len(folders)
    assert not list((small_disk.path / "checkpoints").glob(".step-*"))


def test_mixed_batches_keep_what_later_steps_said(root: Path) -> None:
    config: TrainConfig = tiny_config(root, objective=LossConfig(steps=3, one_step_share=0.5))
    _, told = train(config, root / "attempt")
    last = [event for event in told if isinstance(event, StepLogged)][-1]
    assert len(last.step_losses) == len(last.accuracy) == 3


def test_documents_without_a_countable_row_do_not_stop_training(root: Path) -> None:
    """A batch whose tokens all lie outside the draft vocabulary teaches nothing and breaks nothing."""
    documents = answers(root / "target", 40)
    rare = replace(documents[0], dataset="B3_rare", argmax=torch.full((19,), 299))
    store(root / "rare", root / "target", [rare])
    config = tiny_config(root, hidden=(str(root / "hidden"), str(root / "rare")), draft_vocab_size=16, tokens_per_batch=1)
    outcome, _ = train(replace(config, evaluation=EvalConfig(held_out_share=0.0), epochs=1, max_steps=41), root / "attempt")
    assert outcome.summary["steps"] == 41
