"""One project: is everything all right, and how far are we?"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from eagle3web.domain import lineage
from eagle3web.domain.clock import database_now
from eagle3web.domain.forecasts import ProjectForecast, forecast
from eagle3web.domain.waits import waits
from eagle3web.enums import DatasetState, ShownState
from eagle3web.formats import duration, of, rate, tokens
from eagle3web.live.records import Entry, Reading
from eagle3web.models import Attempt, Project
from eagle3web.pages import fragments, words
from eagle3web.pages.clocks import Clocks, clocks, next_change
from eagle3web.pages.datasets_of_run import Totals, totals
from eagle3web.pages.estimates import span
from eagle3web.pages.project_needs import collect
from eagle3web.pages.rights import Rights
from eagle3web.pages.stages.standing import StandingLine, standing_line
from eagle3web.pokes import ENGINES, project_topic
from eagle3web.queries import overview
from eagle3web.queries.benchmarks import best_of_project
from eagle3web.queries.standing import Standing, standings

FRAGMENTS = {
    "ov-stats": "overview/_stats.html",
    "ov-budgets": "overview/_budgets.html",
    "ov-needs": "overview/_needs.html",
    "ov-live": "overview/_live.html",
    "ov-hosts": "overview/_hosts.html",
}
SLOW_EVERY = timedelta(seconds=10)
QUEUED_SHOWN = 20
"""How often the last hour and the forecast are worked out: they move slowly and cost more than all the rest."""


@dataclass(frozen=True)
class LiveRun:
    attempt: Attempt
    clocks: Clocks
    totals: Totals
    standing: StandingLine | None = None
    """Of any stage but generation."""

    @property
    def eta_s(self) -> float | None:
        return self.standing.eta_s if self.standing is not None else self.totals.eta_s

    @property
    def done(self) -> str:
        """Where it is: what its stage counts; of generation its running dataset, or all of them."""
        if self.standing is not None:
            return self.standing.words
        running = [row for row in self.attempt.datasets.all() if row.state == DatasetState.RUNNING]
        if len(running) == 1 and running[0].budget is not None:
            done, goal = of(running[0].tokens, running[0].budget)
            return f"{running[0].dataset} {done} of {goal}"
        return self.totals.words


@dataclass(frozen=True)
class BudgetLine:
    """One dataset's bar."""

    standing: Standing
    scale: float

    @property
    def done(self) -> str:
        return of(self.standing.tokens, self.standing.budget.tokens)[0]

    @property
    def goal(self) -> str:
        budget = self.standing.budget
        if budget.tokens is None:
            return words.goal(None, budget.max_samples)
        return of(self.standing.tokens, budget.tokens)[1]

    @property
    def label(self) -> str:
        flying = f", {tokens(self.standing.in_flight_tokens)} in flight" if self.standing.in_flight_tokens else ""
        return f"{self.done} of {self.goal}{flying}"

    @property
    def state_words(self) -> str:
        return self.standing.state if self.standing.budget.enabled else "off"

    @property
    def aside(self) -> str:
        """The last column: speed, what is over, what is left."""
        row, budget = self.standing.progress, self.standing.budget
        if not budget.enabled:
            return "switched off"
        if row is not None and self.standing.live and row.state == DatasetState.RUNNING:
            return f"{rate(row.tokens_per_s)} tok/s"
        if budget.tokens is not None and self.standing.tokens > budget.tokens:
            return f"{tokens(self.standing.tokens - budget.tokens)} over"
        if row is not None and row.reason == "exhausted":
            return "no prompts left"
        if row is not None and row.mean_completion and budget.tokens is not None:
            return f"about {tokens((budget.tokens - self.standing.tokens) / row.mean_completion)} answers left"
        return ""


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Over all budgets that are switched on."""

    done: int
    goal: int
    in_flight: int
    over: int

    @property
    def share(self) -> float | None:
        return self.done / self.goal if self.goal else None

    @property
    def words(self) -> tuple[str, str]:
        return of(self.done, self.goal)


@dataclass
class OverviewPage:
    """Reader of one project."""

    project_id: int
    may: Rights
    pokes: frozenset[str] = field(init=False)
    _slow: tuple[list[float], ProjectForecast] | None = None
    _slow_at: datetime | None = None

    def __post_init__(self) -> None:
        self.pokes = frozenset({project_topic(self.project_id), ENGINES})

    def context(self, now: datetime) -> dict[str, Any]:
        """About fourteen queries."""
        project = Project.objects.get(pk=self.project_id)
        standing = standings(self.project_id)
        live = [_live_run(attempt, now) for attempt in overview.live_attempts(self.project_id)]
        queued = overview.queued_runs(self.project_id)
        waiting, held = waits(queued[:QUEUED_SHOWN]), lineage.held(queued)
        engines, hosts = overview.engines(now), overview.hosts()
        sums = _sums(standing)
        history, ahead = self._read_slow(project, now)
        moving = any(run.clocks.live and not run.clocks.quiet for run in live)
        hours = ahead.total.hours
        return {
            "may": self.may,
            "project": project,
            "lines": _lines(standing),
            "ticks": _ticks(standing),
            "sums": sums,
            "speed": sum(run.totals.tokens_per_s for run in live if not run.clocks.quiet),
            "history": history,
            "left": span(hours, lambda value: duration(value * 3600), early=ahead.early) if hours and hours.high else None,
            "met_at": _in_hours(now, hours.likely) if hours and hours.high and moving else None,
            "rate_from": ahead.rate_from,
            "live": live,
            "best": best_of_project(self.project_id),
            "quiet": [run for run in live if run.clocks.state not in (ShownState.RUNNING, ShownState.STARTING)],
            "queued": [(run, waiting.get(run.pk) or f"waits for {run.host or 'a worker'}") for run in queued[:QUEUED_SHOWN]],
            "queued_more": len(queued[QUEUED_SHOWN:]),
            "runs": overview.run_count(self.project_id),
            "needs": collect(
                self.project_id,
                [(run.attempt, run.clocks) for run in live],
                [run for run in queued if run.pk not in held],
                engines,
                hosts,
                now,
            ),
            "engines": engines,
            "hosts": hosts,
            "look_again": next_change([run.attempt for run in live], now),
        }

    def read(self, now: datetime) -> Reading:
        now = database_now()
        context = self.context(now)
        return Reading(
            fragments=fragments.render(FRAGMENTS, context),
            title=context["project"].name,
            look_again=context["look_again"],
            now=now,
        )

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0

    def _read_slow(self, project: Project, now: datetime) -> tuple[list[float], ProjectForecast]:
        if self._slow is None or self._slow_at is None or now - self._slow_at > SLOW_EVERY:
            self._slow = overview.speed_history(self.project_id, now), forecast(project)
            self._slow_at = now
        return self._slow


def _in_hours(now: datetime, hours: float) -> datetime:
    """A moment, to the minute: it would change at every look otherwise."""
    return (now + timedelta(hours=hours)).replace(second=0, microsecond=0)


def _live_run(attempt: Attempt, now: datetime) -> LiveRun:
    judged = clocks(attempt, now)
    standing = standing_line(attempt, attempt.run.stage, forecast=not judged.quiet)
    return LiveRun(attempt, judged, totals(list(attempt.datasets.all()), forecast=not judged.quiet), standing)


def _sums(standing: Sequence[Standing]) -> Sums:
    on = [row for row in standing if row.budget.enabled and row.budget.tokens is not None]
    return Sums(
        done=sum(min(row.tokens, row.budget.tokens or 0) for row in on),
        goal=sum(row.budget.tokens or 0 for row in on),
        in_flight=sum(row.in_flight_tokens for row in standing),
        over=sum(max(0, row.tokens - (row.budget.tokens or 0)) for row in on),
    )


def _scale(standing: Sequence[Standing]) -> float:
    return max((max(row.tokens + row.in_flight_tokens, row.budget.tokens or 0) for row in standing), default=0) * 1.04


def _lines(standing: Sequence[Standing]) -> list[BudgetLine]:
    scale = _scale(standing)
    return [BudgetLine(row, scale) for row in standing]


def _ticks(standing: Sequence[Standing]) -> list[tuple[str, str]]:
    """The scale under the bars: `(position, label)`, at most five round numbers."""
    scale = _scale(standing)
    if not scale:
        return []
    step = next(s for power in range(19) for s in (10**power, 2 * 10**power, 5 * 10**power) if scale / s <= 4.5)
    return [
        (f"{100 * i * step / scale:.2f}%", tokens(i * step).replace(".00", "").replace(".0", ""))
        for i in range(5)
        if i * step <= scale
    ]
