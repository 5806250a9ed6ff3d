"""Events of a training in words, for the log and the terminal."""

import logging
from pathlib import Path

from pipeline.amounts import duration, size
from pipeline.drafter_events import CheckpointSaved, DecodeEvalLogged, EvalLogged, StepLogged
from pipeline.event import Event
from pipeline.events import StageFailed, StageFinished, StageInterrupted, StageStarted, StatusChanged, Warned


def describe(event: Event) -> tuple[int, str] | None:
    """Log level and one sentence; None for what is not worth a line of its own."""
    match event:
        case StageFailed():
            return logging.ERROR, f"failed: {event.reason}"
        case Warned():
            return logging.WARNING, event.text
    text = _measured(event) or _state(event)
    return (logging.INFO, text) if text else None


def progress_line(event: Event) -> str:
    """`step 650/6,236 epoch 1.25 loss 2.310 acc .61 .52 .44 lr 8.1e-04 3,120 tok/s ETA=1.1h`; empty for other events."""
    if not isinstance(event, StepLogged):
        return ""
    return (
        f"step {event.step:,}/{event.total_steps:,} epoch {event.epoch:.2f} loss {event.loss:.3f} "
        f"acc {_shares(event.accuracy)} lr {event.learning_rate:.1e} "
        f"{event.tokens_per_s:,.0f} tok/s ETA={duration(event.eta_s)}"
    )


def _measured(event: Event) -> str:
    match event:
        case EvalLogged():
            return (
                f"step {event.step:,}: held-out loss {event.loss:.3f}, acc {_shares(event.accuracy)}, "
                f"simulated accept length {event.accept_length:.3f}{_by_dataset(event.datasets)}"
            )
        case DecodeEvalLogged():
            return (
                f"step {event.step:,}: decoded accept length {event.accept_length:.3f}, "
                f"{event.tokens:,} tokens of {event.prompts} prompts{_by_dataset(event.datasets)}"
            )
        case CheckpointSaved():
            best = ", the best so far" if event.best else ""
            removed = f"; removed {', '.join(Path(path).name for path in event.removed)}" if event.removed else ""
            return f"saved {event.path}, {size(event.bytes)}{best}{removed}"
    return ""


def _state(event: Event) -> str:
    match event:
        case StageStarted():
            return f"{event.stage} started, config {event.config_hash}"
        case StatusChanged():
            return event.text or "training"
        case StageInterrupted():
            return f"interrupted: {event.reason}; the last checkpoint resumes it"
        case StageFinished():
            best = f"; best: {event.summary['best']}" if event.summary.get("best") else ""
            return f"finished: {event.summary['steps']:,} steps, {event.summary['tokens']:,} tokens{best}"
    return ""


def _shares(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:.2f}".removeprefix("0") for value in values)


def _by_dataset(values: dict[str, float]) -> str:
    return f" ({', '.join(f'{name} {value:.2f}' for name, value in values.items())})" if len(values) > 1 else ""
