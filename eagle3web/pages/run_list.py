"""The table of runs: its columns, its filters, and the rows that change while somebody looks."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

import django_filters
import django_tables2 as tables
from django import forms
from django.db.models import Q, QuerySet
from django.template.loader import get_template

from eagle3web.domain import lineage
from eagle3web.domain.clock import database_now
from eagle3web.enums import RunStatus, Stage
from eagle3web.live.records import Entry, Reading
from eagle3web.models import Attempt, Run
from eagle3web.pages.clocks import Clocks, clocks, next_change
from eagle3web.pages.datasets_of_run import Totals, totals
from eagle3web.pages.rights import Rights
from eagle3web.pages.stages.standing import standing_line
from eagle3web.pokes import project_topic
from eagle3web.queries import run_list
from eagle3web.text import visible

PER_PAGE = 25
STATES = (
    ("live", "live"), ("queued", "queued"), ("running", "running"), ("finished", "finished"), ("stopped", "stopped"),
    ("failed", "failed"), ("lost", "lost"),
)  # fmt: skip


@dataclass(frozen=True)
class RunRow:
    """One run as the table shows it."""

    run: Run
    attempt: Attempt | None
    clocks: Clocks | None
    totals: Totals | None
    worked_s: float | None = None
    """All attempts that have ended, together; None before the first."""
    waits: str = ""
    """What a queued run waits for."""

    @property
    def state(self) -> str:
        return self.clocks.state if self.clocks else self.run.status

    @property
    def words(self) -> str:
        """In the pill: why it ended, where that is short; else the state."""
        said = self.clocks.words if self.clocks and not self.clocks.live else ""
        return said if 0 < len(said) <= 28 and self.state != "finished" else self.state

    @property
    def hint(self) -> str:
        return self.clocks.words if self.clocks else self.waits

    @property
    def result(self) -> str:
        """What it has made, as its stage counts; empty before the first attempt."""
        if self.attempt is None or self.totals is None:
            return ""
        if self.run.stage == Stage.GENERATE:
            return self.totals.amount
        standing = standing_line(self.attempt, self.run.stage, forecast=False)
        return standing.words if standing else "–"

    @property
    def order(self) -> str:
        return f"{self.run.pk:012d}"


def describe(runs: Iterable[Run], now: datetime) -> list[RunRow]:
    """Four queries for any number of runs."""
    found = list(runs)
    last = run_list.last_attempts(run.pk for run in found)
    worked = run_list.seconds_worked(run.pk for run in found)
    held = lineage.held(run for run in found if run.status == RunStatus.QUEUED)
    return [_row(run, last.get(run.pk), worked.get(run.pk), held.get(run.pk, ""), now) for run in found]


def _row(run: Run, attempt: Attempt | None, worked_s: float | None, held: str, now: datetime) -> RunRow:
    if attempt is None or run.status == RunStatus.QUEUED:
        waits = held or f"waits for {run.host or 'a worker'}"
        so_far = totals(list(attempt.datasets.all()), forecast=False) if attempt else None
        return RunRow(run, attempt, None, so_far, worked_s, waits if run.status == RunStatus.QUEUED else "")
    judged = clocks(attempt, now)
    return RunRow(run, attempt, judged, totals(list(attempt.datasets.all()), forecast=not judged.quiet), worked_s)


class RunFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter has no types
    """What the address of the page says: a link shows the same rows to everybody."""

    q = django_filters.CharFilter(method="search", label="Search")
    state = django_filters.ChoiceFilter(choices=STATES, method="in_state", empty_label="any state", label="State")
    stage = django_filters.ChoiceFilter(choices=(), empty_label="any stage", label="Stage")
    author = django_filters.ChoiceFilter(field_name="author_id", choices=(), empty_label="anyone", label="Author")
    since = django_filters.DateFilter(
        field_name="created_at", lookup_expr="date__gte", label="Since", widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, *args: Any, project_id: int, **kwargs: Any) -> None:
        super().__init__(*args, queryset=run_list.runs_of(project_id), **kwargs)
        self.filters["author"].extra["choices"] = [(str(pk), visible(name)) for pk, name in run_list.authors(project_id)]

        # Stages that there are, and the one in the address: a link stays valid when its runs are not there yet.
        known = {*run_list.stages(project_id), self.data.get("stage")}
        self.filters["stage"].extra["choices"] = [choice for choice in Stage.choices if choice[0] in known]

    def search(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        """By number (`r142`), title, tag, config hash or author."""
        text = value.strip()[:100]
        wanted = Q(title__icontains=text) | Q(tags__icontains=text) | Q(author__username__icontains=text) | Q(config_hash=text)
        number = text.removeprefix("r")
        if number.isascii() and number.isdigit() and len(number) < 16:
            wanted |= Q(pk=int(number))
        return runs.filter(wanted)

    def in_state(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return runs.filter(status__in=RunStatus.LIVE if value == "live" else [value])


class RunTable(tables.Table):  # type: ignore[misc]  # django-tables2 has no types
    """Columns that sort; the rows are `runs/_row.html`."""

    run = tables.Column(accessor="pk", order_by="pk")
    state = tables.Column(accessor="status", verbose_name="State")
    tags = tables.Column(orderable=False)
    result = tables.Column(accessor="pk", verbose_name="Done")
    alive = tables.Column(accessor="pk", orderable=False)
    progress = tables.Column(accessor="pk", orderable=False)
    host = tables.Column(accessor="pk", orderable=False)
    author = tables.Column(accessor="author__username", verbose_name="Author")
    started = tables.Column(accessor="created_at", verbose_name="Created")
    took = tables.Column(accessor="pk", orderable=False)

    numeric: ClassVar[frozenset[str]] = frozenset({"started", "took"})

    class Meta:
        template_name = "runs/_table.html"
        order_by = "-run"

    def order_result(self, runs: QuerySet[Run], is_descending: bool) -> tuple[QuerySet[Run], bool]:
        """Tokens are counted for all runs only when somebody sorts by them."""
        return run_list.with_tokens(runs).order_by(f"{'-' if is_descending else ''}token_sum", "-pk"), True

    @property
    def described(self) -> list[RunRow]:
        """The rows of this page."""
        return describe((row.record for row in self.paginated_rows), database_now())


@dataclass
class RunListPage:
    """Reader of the rows that move. Rows that are not on a viewer's page are not shown there."""

    project_id: int
    may: Rights
    pokes: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.pokes = frozenset({project_topic(self.project_id)})

    def read(self, now: datetime) -> Reading:
        now = database_now()
        rows = describe(run_list.moving_runs(self.project_id, now), now)
        template = get_template("runs/_row.html")
        found = {f"run-row-{row.run.pk}": template.render({"row": row}).strip() for row in rows}
        found["runs-count"] = get_template("runs/_count.html").render({"counts": run_list.counts(self.project_id)}).strip()
        return Reading(
            fragments=found, title="Runs", now=now, look_again=next_change([row.attempt for row in rows if row.attempt], now)
        )

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0
