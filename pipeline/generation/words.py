"""Events of a generation run in words, for the log and the terminal."""

import logging

from pipeline.amounts import duration
from pipeline.event import Event
from pipeline.events import (
    BudgetApplied,
    ConcurrencyApplied,
    DatasetFinished,
    DatasetSkipped,
    DatasetStarted,
    EngineChanged,
    GenerationProgress,
    StageFailed,
    StageFinished,
    StageInterrupted,
    StageStarted,
    StatusChanged,
    Warned,
)

SKIPPED = {
    "budget_met": "budget already met",
    "max_samples": "all wanted answers are there",
    "exhausted": "every prompt was asked already",
    "disabled": "switched off",
}
FINISHED = {
    "budget_met": "budget met",
    "max_samples": "all wanted answers are there",
    "exhausted": "no prompt is left",
    "disabled": "switched off",
    "stopped": "stopped",
}


def describe(event: Event) -> tuple[int, str] | None:
    """Log level and one sentence; None for what is not worth a line of its own."""
    match event:
        case StageFailed():
            return logging.ERROR, f"failed: {event.reason}; kept: {event.kept}"
        case Warned():
            return logging.WARNING, f"{event.dataset}: {event.text}" if event.dataset else event.text
        case EngineChanged():
            level = logging.INFO if event.state == "ok" else logging.WARNING
            return level, f"engine {event.engine}: {event.state}, {event.reason}"
    text = _decision(event) or _state(event)
    return (logging.INFO, text) if text else None


def _decision(event: Event) -> str:
    """What was decided about a dataset, with its numbers."""
    match event:
        case DatasetSkipped():
            left = event.errors if event.reason == "exhausted" else 0
            again = f"; {left:,} gave an error before, --retry-errors asks them again" if left else ""
            return f"{event.dataset}: {SKIPPED[event.reason]}, skipped, {of(event.tokens, event.budget)} tokens{again}"
        case DatasetStarted():
            done = f"{event.done:,} of {event.prompts:,} prompts answered"
            return f"{event.dataset}: started, {done}, {of(event.tokens, event.budget)} tokens"
        case DatasetFinished():
            answers = f"{event.done:,} answers ({event.errors:,} errors, {event.truncated:,} truncated)"
            return f"{event.dataset}: {FINISHED[event.reason]}, {of(event.tokens, event.budget)} tokens, {answers}"
        case BudgetApplied():
            return f"{event.dataset}: budget is now {count(event.budget)} tokens (version {event.budget_version})"
    return ""


def _state(event: Event) -> str:
    """How the run as a whole stands."""
    match event:
        case StageStarted():
            return f"{event.stage} started, config {event.config_hash}"
        case StatusChanged():
            return event.text or "going on"
        case ConcurrencyApplied():
            return f"concurrency is now {event.concurrency} (was {event.previous})"
        case StageInterrupted():
            return f"interrupted: {event.reason}; what was answered is kept"
        case StageFinished():
            return "finished"
    return ""


def progress_line(event: GenerationProgress) -> str:
    """`B2 650/6236 (0 err) 0.2 req/s avg_comp=3360tok ETA=7.6h`."""
    return (
        f"{event.dataset} {event.done}/{event.total} ({event.errors} err) {event.requests_per_s:.1f} req/s "
        f"avg_comp={event.mean_completion:.0f}tok ETA={duration(event.eta_s)}"
    )


def of(tokens: int, budget: int | None) -> str:
    """`17.03 M of 10.00 M`."""
    return f"{count(tokens)} of {count(budget)}" if budget is not None else count(tokens)


def count(number: int | None) -> str:
    """A number as people write it; None is no limit."""
    if number is None:
        return "unlimited"
    if number >= 1_000_000:
        return f"{number / 1e6:.2f} M"
    return f"{number / 1e3:.1f} k" if number >= 10_000 else f"{number:,}"
