"""Serving: how far a start is, what the server does, and with which drafter."""

from dataclasses import dataclass

from eagle3web.charts.serving import METRICS, accept_figure, queue_figure, rate_figure
from eagle3web.domain.serving import drafter_of
from eagle3web.formats import count
from eagle3web.models import Attempt, Run
from eagle3web.pages.stages.base import Context, StagePart
from eagle3web.pages.stages.metric_points import MetricPoints
from eagle3web.queries import points
from eagle3web.queries.counters import last_word
from pipeline.server_events import ServerLoading, ServerMeasured, ServerReady, ServerStarted

PHASES = {
    "": "starting Python",
    "weights": "loading weights",
    "memory": "making room for the KV cache",
    "graphs": "capturing graphs",
    "warming up": "warming up",
}


@dataclass(frozen=True, kw_only=True)
class Served:
    """The last words of an attempt about its newest server, as the page shows them."""

    started: ServerStarted
    loading: ServerLoading | None
    ready: ServerReady | None
    """None until this start has answered."""
    measured: ServerMeasured | None
    drafter: str
    """What it drafts with, by now."""

    @property
    def share(self) -> float | None:
        """Of what the present phase of the start counts."""
        told = self.loading
        return min(1.0, told.done / told.total) if told is not None and told.total > 1 else None

    @property
    def phase(self) -> str:
        """`loading weights: 3 of 12`."""
        told = self.loading
        if told is None:
            return PHASES[""]
        counted = f": {count(told.done)} of {count(told.total)}" if told.total > 1 else ""
        return f"{PHASES.get(told.phase, told.phase)}{f' of {told.what}' if told.what else ''}{counted}"

    @property
    def words(self) -> str:
        """In one line, for lists."""
        if self.ready is None:
            return self.phase
        if self.measured is None:
            return "ready"
        return f"{count(self.measured.running)} running, {count(self.measured.waiting)} waiting"


def served(attempt: Attempt) -> Served | None:
    """None before the first start."""
    started = last_word(attempt, ServerStarted)
    if started is None:
        return None
    loading, ready = last_word(attempt, ServerLoading), last_word(attempt, ServerReady)
    measured = last_word(attempt, ServerMeasured)
    # What was said of an earlier server is no word about this one.
    return Served(
        started=started,
        loading=loading if loading and loading.number == started.number else None,
        ready=ready if ready and ready.number == started.number else None,
        measured=measured if measured and measured.number == started.number else None,
        drafter=drafter_of(attempt),
    )


def context(run: Run, attempt: Attempt, forecast: bool) -> Context:
    """No query."""
    name = run.config.get("engine") or f"r{run.pk}"
    return {"served": served(attempt), "engine_name": name, "kept": "its log and what was measured"}


def details(run: Run, attempt: Attempt, up_to: int) -> Context:
    """Three charts up to now. About eight queries."""
    drawn = {name: points.points_of(attempt.pk, name, up_to=up_to) for name in METRICS}
    lines = {name: found for name, (found, _) in drawn.items()}
    rates, total = drawn["tokens_per_s"]
    return {
        "rate_figure": rate_figure(lines),
        "queue_figure": queue_figure(lines),
        "accept_figure": accept_figure(lines),
        "points_drawn": len(rates),
        "points_total": total,
    }


POINTS = MetricPoints(METRICS)
PART = StagePart(
    template="runs/stages/_serve.html",
    facts="runs/facts/_serve.html",
    fragments={"run-serving": "runs/_serving.html"},
    context=context,
    details=details,
    points_after=POINTS.after,
    points_within=POINTS.within,
)
