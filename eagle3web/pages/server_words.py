"""What a serve run decided and saw, as entries of its timeline."""

from typing import Any

from eagle3web.formats import count, duration
from pipeline.event import Event
from pipeline.server_events import DrafterSwapped, ServerDraining, ServerEnded, ServerReady, ServerStarted


def describe(event: Event) -> dict[str, Any] | None:
    """Fields of a Decision; None for what is no decision."""
    match event:
        case ServerStarted():
            drafts = f"drafts from {event.drafter}; " if event.drafter else ""
            return {"state": "starting", "head": f"SGLang {event.version} starts", "note": f"{drafts}log: {event.log}"}
        case ServerReady():
            context = f"; context of {count(event.context_length)} tokens" if event.context_length else ""
            note = f"{event.url} after {duration(event.seconds)}{context}"
            return {"state": "finished", "subject": event.engine, "head": "takes requests", "note": note}
        case ServerDraining():
            return {"state": "stopping", "head": f"drains, {duration(event.deadline_s)} at most", "note": event.reason}
        case ServerEnded() if event.wanted:
            return {"state": "stopped", "head": "the server ended", "note": event.reason}
        case ServerEnded():
            again = f"{duration(event.retry_in_s)} until the next start" if event.retry_in_s is not None else "no further start"
            head = f"the server failed, {count(event.failures)} in a row"
            return {"state": "failed", "head": head, "aside": again, "note": event.reason}
        case DrafterSwapped():
            aside = f"before: {event.previous or 'plain decoding'}"
            return {"icon": "edit", "head": f"drafts from {event.name or 'nothing'}", "aside": aside, "kind": "edit"}
    return None
