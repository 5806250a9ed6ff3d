"""A project's budgets: what each dataset should reach, and what that will take."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from eagle3web.charts.forecast import Bar, forecast_figure
from eagle3web.domain.clock import database_now
from eagle3web.domain.forecasts import ForecastRow, ProjectForecast, forecast
from eagle3web.formats import count, duration, tokens
from eagle3web.live.records import Entry, Reading
from eagle3web.models import Project
from eagle3web.pages import fragments, words
from eagle3web.pages.estimates import Span, span
from eagle3web.pages.rights import Rights
from eagle3web.pokes import project_topic
from eagle3web.queries.budget_history import budget_changes
from eagle3web.queries.standing import Standing, standings

FRAGMENTS = {
    "bu-stats": "budgets/_stats.html",
    "bu-table": "budgets/_table.html",
    "bu-changes": "budgets/_changes.html",
    "c-forecast": "budgets/_figure.html",
}
FORECAST_EVERY = timedelta(seconds=5)


def _hours(value: float) -> str:
    return duration(value * 3600)


@dataclass(frozen=True)
class BudgetRow:
    row: ForecastRow
    standing: Standing

    @property
    def goal(self) -> str:
        return words.goal(self.row.budget.tokens, self.row.budget.max_samples)

    @property
    def answers(self) -> Span:
        return span(self.row.forecast.answers, count, early=self.row.early)

    @property
    def tokens(self) -> Span:
        return span(self.row.forecast.tokens, tokens, early=self.row.early)

    @property
    def hours(self) -> Span:
        return span(self.row.forecast.hours, _hours, early=self.row.early)

    @property
    def done(self) -> bool:
        """Nothing is left to do."""
        return self.row.forecast.answers.high == 0

    @property
    def end(self) -> str:
        return words.REASONS.get(self.row.forecast.reason, self.row.forecast.reason)

    @property
    def used_version(self) -> int | None:
        """What the live process uses."""
        return self.standing.progress.budget_version if self.standing.live and self.standing.progress else None

    @property
    def waits(self) -> bool:
        return self.used_version is not None and self.used_version != self.row.budget.version


@dataclass
class BudgetsPage:
    """Reader of one project's budgets."""

    project_id: int
    may: Rights
    pokes: frozenset[str] = field(init=False)
    _forecast: ProjectForecast | None = None
    _made_at: datetime | None = None
    _versions: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        self.pokes = frozenset({project_topic(self.project_id)})

    def context(self, now: datetime) -> dict[str, Any]:
        project = Project.objects.get(pk=self.project_id)
        standing = standings(self.project_id)
        made = self._read_forecast(project, standing, now)
        by_budget = {row.budget.pk: row for row in standing}
        early = any(row.early for row in made.rows)
        rows = [BudgetRow(row, by_budget[row.budget.pk]) for row in made.rows if row.budget.pk in by_budget]
        return {
            "may": self.may,
            "project": project,
            "rows": rows,
            "total_tokens": span(made.total.tokens, tokens, early=early),
            "total_answers": span(made.total.answers, count, early=early),
            "total_hours": span(made.total.hours, _hours, early=made.early),
            "rate": made.rate,
            "rate_from": made.rate_from,
            "early": made.early,
            "changes": budget_changes(self.project_id),
            "figure": figure(made),
            "hours_known": made.rate is not None,
        }

    def read(self, now: datetime) -> Reading:
        now = database_now()
        return Reading(fragments=fragments.render(FRAGMENTS, self.context(now)), title="Budgets", now=now)

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0

    def _read_forecast(self, project: Project, standing: list[Standing], now: datetime) -> ProjectForecast:
        """A forecast is made anew when a budget has changed, else every few seconds: it moves slowly and costs ten queries."""
        versions = tuple((row.budget.pk, row.budget.version) for row in standing)
        old = self._made_at is None or now - self._made_at > FORECAST_EVERY
        if self._forecast is None or old or versions != self._versions:
            self._forecast, self._made_at, self._versions = forecast(project), now, versions
        return self._forecast


def figure(made: ProjectForecast) -> dict[str, Any]:
    """Time by dataset; tokens while no rate is known."""
    ranges = [(row.dataset, row.forecast.hours if made.rate else row.forecast.tokens) for row in made.rows]
    found = [(name, value) for name, value in ranges if value is not None and value.high > 0]
    if not made.rate:
        unit, factor = "tokens", 1
    else:
        unit, factor = ("minutes", 60) if all(value.high < 2 for _, value in found) else ("hours", 1)
    return forecast_figure(
        [Bar(name, factor * value.low, factor * value.likely, factor * value.high) for name, value in found], unit=unit
    )
