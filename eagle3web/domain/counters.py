"""How far extraction, training and benchmarks are: the last word of each kind of progress event."""

from dataclasses import asdict
from typing import Any

from eagle3web.models import Attempt
from pipeline.drafter_events import BenchmarkMeasured, DecodeEvalLogged, EvalLogged, ExtractionProgress, StepLogged
from pipeline.event import Event
from pipeline.server_events import DrafterSwapped, ServerEnded, ServerLoading, ServerMeasured, ServerReady, ServerStarted

MOVED_BY: dict[type[Event], tuple[str, ...]] = {
    ExtractionProgress: ("documents", "skipped", "tokens"),
    StepLogged: ("step",),
    EvalLogged: ("step",),
    DecodeEvalLogged: ("step",),
    BenchmarkMeasured: ("done",),
    ServerStarted: ("number",),
    ServerLoading: ("phase", "what", "done"),
    ServerReady: ("number",),
    ServerMeasured: (),
    ServerEnded: (),
    DrafterSwapped: (),
}
"""Kinds that are kept, and the fields that say whether something countable moved."""
PROOFS = frozenset({ServerMeasured.kind})
"""Kinds that say by themselves that all is well: a server without requests does what it is there for."""


class Counters:
    """An attempt's `counters`, by kind of event; `save` writes them. Made anew after a failed transaction."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._words: dict[str, dict[str, Any]] = Attempt.objects.values_list("counters", flat=True).get(pk=attempt.pk)
        self._is_changed = False

    def apply(self, event: Event) -> bool:
        """Take the event over; whether something countable moved with it."""
        names = MOVED_BY.get(type(event))
        if names is None:
            return False
        before, after = self._words.get(event.kind, {}), asdict(event)
        self._words[event.kind] = after
        self._is_changed = True
        return event.kind in PROOFS or any(before.get(name) != after[name] for name in names)

    def last(self, kind: str) -> dict[str, Any] | None:
        """The newest word of that kind, saved or not yet; None before the first."""
        return self._words.get(kind)

    def save(self) -> None:
        if self._is_changed:
            Attempt.objects.filter(pk=self._attempt.pk).update(counters=self._words)
            self._is_changed = False
