"""Events of a serve run in words, for the log and the terminal."""

import logging

from pipeline.amounts import duration
from pipeline.event import Event
from pipeline.events import StageFailed, StageFinished, StageInterrupted, Warned
from pipeline.serve.log_lines import Progress
from pipeline.serve.start_log import words
from pipeline.server_events import (
    DrafterSwapped,
    ServerDraining,
    ServerEnded,
    ServerLoading,
    ServerMeasured,
    ServerReady,
    ServerStarted,
)


def describe(event: Event) -> tuple[int, str] | None:
    """Log level and one sentence; None for what is not worth a line of its own."""
    match event:
        case StageFailed():
            return logging.ERROR, f"failed: {event.reason}"
        case Warned():
            return logging.WARNING, event.text
        case ServerStarted():
            drafts = f", drafts from {event.drafter}" if event.drafter else ""
            return logging.INFO, f"starting SGLang {event.version} (start {event.number}, its log: {event.log}){drafts}"
        case ServerReady():
            return logging.INFO, f"ready at {event.url} after {duration(event.seconds)}"
        case ServerDraining():
            return logging.INFO, f"draining, {event.deadline_s:.0f} s at most: {event.reason}"
        case ServerEnded():
            again = f"; the next start is in {event.retry_in_s:.0f} s" if event.retry_in_s is not None else ""
            return logging.INFO if event.wanted else logging.ERROR, f"server {event.number} ended: {event.reason}{again}"
        case DrafterSwapped():
            return logging.INFO, f"drafts now from {event.name or 'nothing'}, before from {event.previous or 'nothing'}"
        case StageInterrupted():
            return logging.INFO, f"ended: {event.reason}"
        case StageFinished():
            return logging.INFO, "ended"
    return None


def progress_line(event: Event) -> str:
    """One line that says how it is; empty for other events."""
    match event:
        case ServerLoading():
            return words(Progress(event.phase, event.what, event.done, event.total))
        case ServerMeasured():
            accepted = f", accept length {event.accept_length:.2f}" if event.accept_length is not None else ""
            return f"{event.running} running, {event.waiting} waiting, {event.tokens_per_s:.1f} tokens/s{accepted}"
    return ""
