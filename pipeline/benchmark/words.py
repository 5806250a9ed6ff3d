"""Events of a benchmark in words, for the log and the terminal."""

import logging

from pipeline.amounts import duration
from pipeline.drafter_events import BenchmarkMeasured
from pipeline.event import Event
from pipeline.events import StageFailed, StageFinished, StageInterrupted, StageStarted, StatusChanged, Warned


def describe(event: Event) -> tuple[int, str] | None:
    """Log level and one sentence; None for what is not worth a line of its own."""
    match event:
        case StageFailed():
            return logging.ERROR, f"failed: {event.reason}; what was measured is kept"
        case Warned():
            return logging.WARNING, event.text
        case StageStarted():
            return logging.INFO, "started: " + ", ".join(f"{name} {event.inputs[name]}" for name in event.inputs)
        case StatusChanged() if event.text:
            return logging.INFO, event.text
        case BenchmarkMeasured():
            return logging.INFO, measured_line(event)
        case StageInterrupted():
            return logging.INFO, f"interrupted: {event.reason}; what was measured is kept"
        case StageFinished():
            return logging.INFO, f"finished: {event.summary['verdict']}"
    return None


def measured_line(event: BenchmarkMeasured) -> str:
    """`7/36 B1 drafter 3/1/4, 1 at once: 512 tokens at 87.2 tokens/s, accept length 1.62, ETA 3.1min`."""
    way = f"{event.mode} {event.shape}".strip()
    accepted = f", accept length {event.accept_length:.2f}" if event.accept_length is not None else ""
    return (
        f"{event.done}/{event.total} {event.dataset} {way}, {event.concurrency} at once: {event.tokens:,} tokens at "
        f"{event.tokens_per_s:.1f} tokens/s{accepted}, ETA {duration(event.eta_s or 0.0)}"
    )
