"""Which checkpoints of a training there are, which is the best, which are kept, and what beside them is swept away."""

import shutil
from pathlib import Path

from pipeline.checkpoint import STATE, damage, read_manifest

SIMULATED, DECODED, LOSS = "simulated_accept_length", "accept_length", "eval_loss"
"""Metrics in a checkpoint's manifest."""


def complete_checkpoints(folder: Path) -> list[Path]:
    """Whole checkpoints, oldest first."""
    found = [path for path in folder.glob("step-*") if (path / "manifest.json").exists()]
    return sorted(found, key=step_of)


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("step-"))


def checkpoint_folder(folder: Path, step: int) -> Path:
    return folder / f"step-{step:06}"


def resumable_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint with its training state; None when training begins anew."""
    return next((path for path in reversed(complete_checkpoints(folder)) if (path / STATE).exists()), None)


def best_checkpoint(folder: Path) -> Path | None:
    """The one with the longest accept length: decoded where all have one, else simulated. None when none was measured."""
    metrics = {path: read_manifest(path).get("metrics", {}) for path in complete_checkpoints(folder)}
    measured = {path: values for path, values in metrics.items() if SIMULATED in values or DECODED in values}
    key = DECODED if all(DECODED in values for values in measured.values()) else SIMULATED
    # Of equal ones the newest: it has learned more.
    return max(measured, key=lambda path: (measured[path].get(key, 0.0), step_of(path)), default=None)


def remove_old(folder: Path, *, keep_last: int) -> list[Path]:
    """Delete all checkpoints but the best one and the last few; returns what is gone."""
    complete = complete_checkpoints(folder)
    kept = {best_checkpoint(folder), *complete[-max(1, keep_last) :]}
    gone = [path for path in complete if path not in kept]
    for path in gone:
        # Out of sight at once: a checkpoint that is half deleted must never be taken for a whole one.
        hidden = folder / f".removed-{path.name}"
        path.rename(hidden)
        shutil.rmtree(hidden)
    return gone


def sweep(folder: Path) -> None:
    """Remove what a killed process left: checkpoints half written or half deleted."""
    for leftover in (*folder.glob(".step-*"), *folder.glob(".removed-*")):
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink()


def set_damaged_aside(folder: Path) -> list[str]:
    """Rename checkpoints whose files are not those that were saved, so that all others count; a sentence for each."""
    told = []
    for path in complete_checkpoints(folder):
        if wrong := damage(path):
            aside = _free_name(folder / f"damaged-{path.name}")
            path.rename(aside)
            told.append(f"{wrong}; this checkpoint is kept as {aside.name} and counts no more")
    return told


def _free_name(path: Path) -> Path:
    names = (path, *(path.with_name(f"{path.name}-{n}") for n in range(2, 1000)))
    return next(name for name in names if not name.exists())


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
