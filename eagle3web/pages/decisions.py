"""The timeline of an attempt: what it decided and why, who asked for what, in words and with the numbers.

The texts in events and messages are untrusted: they stay plain strings here, and the template escapes them.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from eagle3web.formats import count, duration, size
from eagle3web.models import ControlMessage, Event, Transition
from eagle3web.pages import server_words, words
from eagle3web.text import cut, visible
from pipeline import drafter_events as said
from pipeline import events
from pipeline import server_events as served
from pipeline.events import Line

Kind = Literal["skip", "edit", "other"]
TEXT_LIMIT = 500

HIDDEN = frozenset(
    cls.kind
    for cls in (
        events.GenerationProgress, events.SampleLogged, events.LengthsCounted, said.ExtractionProgress, said.ShardWritten,
        said.StepLogged, said.EvalLogged, said.DecodeEvalLogged, said.BenchmarkMeasured, said.BenchmarkSummarised,
        said.AnswerDrafted, served.ServerLoading, served.ServerMeasured,
    )
)  # fmt: skip
"""Kinds that decide nothing: counters, curves, results, which have places of their own on the page."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One entry of the timeline."""

    key: str
    """Names the element in the page: `e17` for event 17, `c4` for message 4, `t9` for transition 9."""
    at: datetime
    head: str
    icon: str = ""
    """An icon's name; empty takes the state's."""
    state: str = ""
    subject: str = ""
    """A dataset or engine, written before `head`."""
    aside: str = ""
    note: str = ""
    kind: Kind = "other"
    waits: bool = False
    """Asked for, and not acknowledged yet."""

    @property
    def order(self) -> str:
        """Sorts the timeline; the newest is the largest."""
        return f"{self.at:%Y%m%d%H%M%S%f}{self.key.rjust(12, '0')}"


def from_event(row: Event) -> Decision | None:
    """The entry of an event; None for one that decides nothing (a status without words)."""
    event = Line(seq=row.seq, t=row.t, kind=row.kind, payload=row.payload).event
    found = _describe(event)
    if found is None:
        return None
    return Decision(key=f"e{row.seq}", at=row.t, **{name: _clean(value) for name, value in found.items()})


def _clean(value: Any) -> Any:  # noqa: ANN401  (fields of Decision)
    return visible(cut(value, TEXT_LIMIT)[0]) if isinstance(value, str) else value


def _describe(event: events.Event) -> dict[str, Any] | None:
    match event:
        case events.StageStarted():
            return {"state": "running", "head": f"{event.stage} started", "note": f"config {event.config_hash}"}
        case events.DatasetStarted():
            kept = f"{count(event.done)} of {count(event.prompts)} answers on disk"
            goal = words.goal(event.budget, event.max_samples)
            return {
                "state": "running",
                "subject": event.dataset,
                "head": "started",
                "note": f"{goal} (v{event.budget_version}); {kept}",
            }
        case events.DatasetSkipped():
            why = words.ended(
                event.reason, done_tokens=event.tokens, budget=event.budget, answers=event.done, prompts=event.prompts,
                failed_before=event.errors,
            )  # fmt: skip
            note = f"{why} (v{event.budget_version})"
            return {"state": "skipped", "subject": event.dataset, "head": "skipped", "note": note, "kind": "skip"}
        case events.DatasetFinished():
            why = words.ended(
                event.reason, done_tokens=event.tokens, budget=event.budget, answers=event.done, prompts=event.total
            )
            state = "stopped" if event.reason == "stopped" else "finished"
            note = f"{why}; {count(event.errors)} errors, {count(event.truncated)} cut, longest {count(event.longest)}"
            return {"state": state, "subject": event.dataset, "head": state, "note": note}
        case events.BudgetApplied():
            goal = words.goal(event.budget, event.max_samples)
            aside = f"from {words.goal(event.previous, None)}, v{event.budget_version}"
            return {"icon": "edit", "subject": event.dataset, "head": f"now reaches for {goal}", "aside": aside, "kind": "edit"}
        case events.ConcurrencyApplied():
            aside = f"from {count(event.previous)}"
            return {"icon": "edit", "head": f"{count(event.concurrency)} requests at once", "aside": aside, "kind": "edit"}
        case events.EngineChanged():
            head, state = ENGINE_WORDS.get(event.state, (event.state, "silent"))
            note = f"{event.reason}{f'; {count(event.in_flight)} in flight' if event.in_flight else ''}"
            return {"state": state, "subject": event.engine, "head": head, "note": note}
        case said.CheckpointSaved():
            gone = f"; {count(len(event.removed))} older deleted" if event.removed else ""
            note = f"{size(event.bytes)}{gone}"
            best = "the best by now" if event.best else ""
            return {"icon": "checkpoints", "subject": f"step {count(event.step)}", "head": "saved", "aside": best, "note": note}
        case (
            served.ServerStarted()
            | served.ServerReady()
            | served.ServerDraining()
            | served.ServerEnded()
            | served.DrafterSwapped()
        ):
            return server_words.describe(event)
        case events.StatusChanged():
            if not event.text and not event.paused:
                return None
            state = "paused" if event.paused else "waiting"
            return {"state": state, "head": "paused" if event.paused else "waits", "note": event.text}
        case events.Warned():
            return {"icon": "info", "state": "silent", "subject": event.dataset or "", "head": event.text}
        case events.StageInterrupted():
            return {"state": "stopped", "head": event.reason or "stopped", "note": "What was done is saved."}
        case events.StageFailed():
            return {"state": "failed", "head": f"failed: {event.reason}", "note": f"Kept: {event.kept}" if event.kept else ""}
        case events.StageFinished():
            return {"state": "finished", "head": "finished"}
        case events.UnknownEvent():
            return {"icon": "info", "head": event.name, "note": json.dumps(event.payload, ensure_ascii=False)}
        case _:
            return None


ENGINE_WORDS = {
    "ok": ("takes requests", "finished"),
    "busy": ("is full, slowed down", "silent"),
    "down": ("does not answer", "failed"),
}


@dataclass
class Acknowledgements:
    """Budget versions that the attempt has taken over, so that an edit and its acknowledgement are one entry."""

    applied: dict[tuple[str, int], events.BudgetApplied] = field(default_factory=dict)

    @classmethod
    def among(cls, rows: Iterable[Event]) -> "Acknowledgements":
        found = {}
        for row in rows:
            if row.kind != events.BudgetApplied.kind:
                continue
            event = Line(seq=row.seq, t=row.t, kind=row.kind, payload=row.payload).event
            if isinstance(event, events.BudgetApplied):
                found[event.dataset, event.budget_version] = event
        return cls(found)


def from_control(row: ControlMessage, acknowledged: Acknowledgements) -> Decision:
    """The entry of what somebody asked: with how long the process took to take it over."""
    who = str(row.author) if row.author else "the system"
    head, aside = _asked(row, acknowledged)
    if row.acknowledged_at is not None:
        note = f"acknowledged after {duration((row.acknowledged_at - row.created_at).total_seconds())}"
    else:
        note = "delivered, not yet acknowledged" if row.delivered_at else "asked, not yet delivered"
    return Decision(
        key=f"c{row.pk}",
        at=row.created_at,
        icon="edit",
        head=_clean(f"{who} {head}"),
        aside=_clean(aside),
        note=note,
        kind="edit",
        waits=row.acknowledged_at is None,
    )


def _asked(row: ControlMessage, acknowledged: Acknowledgements) -> tuple[str, str]:
    asked = row.payload
    match row.kind:
        case "set_budget":
            version = asked.get("version", 0)
            event = acknowledged.applied.get((asked.get("dataset", ""), version))
            aside = f"v{version}" if event is None else f"from {words.goal(event.previous, None)}, v{version}"
            if not asked.get("enabled", True):
                return f"switched {asked.get('dataset')} off", aside
            return f"set {asked.get('dataset')} to {words.goal(asked.get('tokens'), asked.get('max_samples'))}", aside
        case "set_concurrency":
            return f"asked for {count(asked.get('n', 0))} requests at once", ""
        case "pause":
            return "paused the run", ""
        case "resume":
            return "let the run go on", ""
        case "swap_drafter":
            return f"asked to draft with {asked.get('name') or 'nothing'}", ""
        case "stop":
            return "asked the run to stop", ""
        case _:
            return row.kind, ""


def from_transition(row: Transition) -> Decision:
    """The entry of an end that the process could not report itself, such as `lost`."""
    return Decision(key=f"t{row.pk}", at=row.at, state=row.new, head=row.new, note=_clean(row.reason))
