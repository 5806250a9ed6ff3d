"""The table of runs as one person looks at it, and the rows that change meanwhile."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.template.loader import get_template

from eagle3web.domain.clock import database_now
from eagle3web.live.records import Entry, Reading
from eagle3web.models import Project, User
from eagle3web.pages import run_columns
from eagle3web.pages.clocks import next_change
from eagle3web.pages.rights import Rights
from eagle3web.pages.run_columns import CHOICES, DEFAULT, HEADERS, RunTable
from eagle3web.pages.run_filter import RunFilter
from eagle3web.pages.run_rows import describe
from eagle3web.pokes import project_topic
from eagle3web.queries import run_list
from eagle3web.queries.saved_views import views_of

PER_PAGE = 25
NOT_A_FILTER = frozenset({"sort", "page", "cols"})
"""Parameters of the address that choose no runs."""


def list_context(project: Project, query: QueryDict, user: User) -> dict[str, Any]:
    """Filter, table and what stands around them. About fifteen queries."""
    chosen = RunFilter(query, project_id=project.pk, user_id=user.pk)
    columns = run_columns.chosen(query.getlist("cols"))
    runs = chosen.qs if chosen.form.is_valid() else chosen.queryset.none()
    return {
        "project": project,
        "filter": chosen,
        "filtered": any(query.get(name) for name in chosen.filters),
        "columns": columns,
        "column_choices": [(name, HEADERS[name], name in columns) for name in CHOICES],
        "default_columns": ",".join(DEFAULT),
        "table": RunTable(runs, exclude=[name for name in CHOICES if name not in columns]),
        "counts": run_list.counts(project.pk),
        "views": list(views_of(project.pk, user.pk)),
        "view_query": view_query(query),
    }


def rows_of(table: RunTable, user: User) -> dict[str, Any]:
    """The rows of the table's page, once it is known which one. Five queries."""
    runs = [row.record for row in table.paginated_rows]
    starred = run_list.starred(user.pk, (run.pk for run in runs))
    return {"rows": describe(runs, database_now(), starred=starred)}


def view_query(query: QueryDict) -> str:
    """What a saved view keeps of an address: filters, order and columns that say something, not the page."""
    kept = query.copy()
    kept.pop("page", None)
    for name in [name for name, values in kept.lists() if not any(values)]:
        del kept[name]
    return kept.urlencode(safe=",")


@dataclass
class RunListPage:
    """Reader of the rows that move. Rows that are not on a viewer's page are not shown there."""

    project_id: int
    columns: int
    """Which ones, as run_columns.number_of says it."""
    may: Rights
    pokes: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.pokes = frozenset({project_topic(self.project_id)})

    def read(self, now: datetime) -> Reading:
        now = database_now()
        rows = describe(run_list.moving_runs(self.project_id, now), now)
        template = get_template("runs/_row.html")
        context = {"columns": run_columns.columns_of(self.columns), "may": self.may}
        found = {f"run-row-{row.run.pk}": template.render({"row": row, **context}).strip() for row in rows}
        found["runs-count"] = get_template("runs/_count.html").render({"counts": run_list.counts(self.project_id)}).strip()
        return Reading(
            fragments=found, title="Runs", now=now, look_again=next_change([row.attempt for row in rows if row.attempt], now)
        )

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0
