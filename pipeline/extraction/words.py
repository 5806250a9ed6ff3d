"""Events of an extraction in words, for the log and the terminal."""

import logging

from pipeline.amounts import duration, size
from pipeline.drafter_events import ExtractionProgress, ShardWritten
from pipeline.event import Event
from pipeline.events import StageFailed, StageFinished, StageInterrupted, StageStarted, StatusChanged, Warned


def describe(event: Event) -> tuple[int, str] | None:
    """Log level and one sentence; None for what is not worth a line of its own."""
    match event:
        case StageFailed():
            return logging.ERROR, f"failed: {event.reason}"
        case Warned():
            return logging.WARNING, f"{event.dataset}: {event.text}" if event.dataset else event.text
        case StageStarted():
            return logging.INFO, "started: " + ", ".join(f"{name} {event.inputs[name]}" for name in event.inputs)
        case StatusChanged() if event.text:
            return logging.INFO, event.text
        case ShardWritten():
            text = f"{event.shard} written: {event.documents:,} answers, {event.tokens:,} tokens, {size(event.bytes)}"
            return logging.INFO, text
        case StageInterrupted():
            return logging.INFO, f"interrupted: {event.reason}; finished shards are kept"
        case StageFinished():
            return logging.INFO, _summary(event)
    return None


def progress_line(event: Event) -> str:
    """`650/6,236 answers, 1.2 of 12.9 GB, 99.4% reproduced, 3,120 tok/s ETA=1.1h`; empty for other events."""
    if not isinstance(event, ExtractionProgress):
        return ""
    reproduced = f", {event.agreed / event.compared:.1%} reproduced" if event.compared else ""
    return (
        f"{event.documents:,}/{event.total:,} answers, {size(event.bytes)} of {size(event.total_bytes)}{reproduced}, "
        f"{event.tokens_per_s:,.0f} tok/s ETA={duration(event.eta_s)}"
    )


def _summary(event: StageFinished) -> str:
    summary = event.summary
    excluded = f", {summary['excluded']:,} excluded" if summary.get("excluded") else ""
    shares = "".join(f", {dataset} {share:.1%}" for dataset, share in summary["reproduced"].items())
    return (
        f"finished: {summary['documents']:,} answers, {summary['tokens']:,} tokens, {size(summary['bytes'])} in "
        f"{summary['folder']}; {summary['skipped']:,} left out{excluded}; "
        f"generated tokens given back{shares or ': not compared'}"
    )
