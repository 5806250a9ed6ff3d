"""Where the datasets of a generation attempt stand: the last word of its events, and points for charts."""

from datetime import datetime
from typing import Any

from eagle3web.domain.fitting import fit
from eagle3web.domain.points import Points
from eagle3web.enums import DatasetState
from eagle3web.models import Attempt, DatasetProgress
from pipeline.event import Event
from pipeline.events import BudgetApplied, DatasetFinished, DatasetSkipped, DatasetStarted, GenerationProgress

NOTHING_MOVES = {"in_flight": 0, "in_flight_tokens": 0, "requests_per_s": 0.0, "tokens_per_s": 0.0, "eta_s": None}
LARGE = frozenset({"tokens", "budget", "in_flight_tokens"})
"""Columns of 64 bits; the others have 32."""


class Progress:
    """Applies events in their order and remembers what changed; `save` writes it. Made anew after a failed transaction."""

    def __init__(self, attempt: Attempt, points: Points) -> None:
        self._attempt = attempt
        self._points = points
        self._rows = {row.dataset: row for row in attempt.datasets.all()}
        self._changed: set[str] = set()

    def apply(self, event: Event, t: datetime) -> bool:
        """Take the event over; whether something countable moved with it."""
        match event:
            case DatasetStarted():
                self._set(event.dataset, t, state=DatasetState.RUNNING, reason="", **_started(event))
            case DatasetSkipped():
                self._set(event.dataset, t, state=DatasetState.SKIPPED, **_skipped(event), **NOTHING_MOVES)
            case GenerationProgress():
                return self._progress(event, t)
            case BudgetApplied():
                self._set(
                    event.dataset,
                    t,
                    budget=event.budget,
                    max_samples=event.max_samples,
                    budget_version=event.budget_version,
                )
                return False
            case DatasetFinished():
                stopped = event.reason == DatasetState.STOPPED
                state = DatasetState.STOPPED if stopped else DatasetState.FINISHED
                self._set(event.dataset, t, state=state, **_finished(event), **NOTHING_MOVES)
                self._draw(event.dataset, t, tokens=event.tokens, tokens_per_s=0.0)
            case _:
                return False
        return True

    def save(self) -> None:
        """Write the rows, in the caller's transaction."""
        for name in self._changed:
            self._rows[name].save()
        self._changed.clear()

    def _progress(self, event: GenerationProgress, t: datetime) -> bool:
        row = self._row(event.dataset)
        moved = (row.done, row.errors, row.tokens) != (event.done, event.errors, event.tokens)
        # A dataset that had ended runs again once its budget was raised. What a pending one has on disk does not start it, nor
        # do the last counts of one that ends reopen it.
        runs = {"state": DatasetState.RUNNING, "reason": ""} if event.in_flight else {}
        self._set(event.dataset, t, **runs, **_counts(event))
        if self._points.is_due("tokens", event.dataset[:80], t):
            self._draw(event.dataset, t, tokens=event.tokens, tokens_per_s=event.tokens_per_s)
        return moved

    def _row(self, dataset: str) -> DatasetProgress:
        name = dataset[:80]
        if name not in self._rows:
            self._rows[name] = DatasetProgress(attempt=self._attempt, dataset=name, position=len(self._rows))
        return self._rows[name]

    def _set(self, dataset: str, t: datetime, **fields: Any) -> None:
        row = self._row(dataset)
        for name, value in fields.items():
            setattr(row, name, _fit(name, value))
        row.updated_at = t
        self._changed.add(row.dataset)

    def _draw(self, dataset: str, t: datetime, **values: float) -> None:
        self._points.draw(t, {(name, dataset): value for name, value in values.items()})


def _started(event: DatasetStarted) -> dict[str, Any]:
    same = _same(event, "done", "tokens", "budget", "max_samples", "budget_version")
    return same | {"total": event.prompts}


def _skipped(event: DatasetSkipped) -> dict[str, Any]:
    same = _same(event, "done", "tokens", "budget", "budget_version")
    return same | {"total": event.prompts, "reason": event.reason[:20]}


def _counts(event: GenerationProgress) -> dict[str, Any]:
    rates = _same(event, "requests_per_s", "tokens_per_s", "mean_completion", "eta_s")
    flight = _same(event, "in_flight", "in_flight_tokens")
    return rates | flight | _same(event, "total", "done", "errors", "truncated", "tokens", "longest")


def _finished(event: DatasetFinished) -> dict[str, Any]:
    same = _same(event, "total", "done", "errors", "truncated", "tokens", "longest", "budget", "finish_reasons")
    return same | {"reason": event.reason[:20]}


def _same(event: Event, *names: str) -> dict[str, Any]:
    """Fields whose columns have the same name."""
    return {name: getattr(event, name) for name in names}


def _fit(name: str, value: Any) -> Any:  # noqa: ANN401  (any column's value)
    """What the column can hold."""
    return fit(value, bits=63 if name in LARGE else 31) if isinstance(value, int) else value
