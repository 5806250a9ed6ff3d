"""The columns of the table of runs: which there are, which somebody chose, and what they sort by."""

from collections.abc import Iterable
from typing import Any, ClassVar

import django_tables2 as tables
from django.db.models import F, QuerySet

from eagle3web.models import Run

DEFAULT = ("state", "tags", "result", "alive", "progress", "author", "started", "took")
"""Shown when the address names none."""


def metric(name: str, header: str) -> Any:  # noqa: ANN401  (django-tables2 has no types)
    """A column of one of the run's copies; the largest come first when it is sorted."""
    return tables.Column(accessor=name, verbose_name=header, initial_sort_descending=True)


class RunTable(tables.Table):  # type: ignore[misc]  # django-tables2 has no types
    """Columns that sort; the rows are `runs/_row.html`."""

    run = tables.Column(accessor="pk", order_by="pk", verbose_name="Run")
    state = tables.Column(accessor="status", order_by=("status", "-pk"), verbose_name="State")
    tags = tables.Column(orderable=False, verbose_name="Tags")
    result = tables.Column(accessor="pk", orderable=False, verbose_name="Done")
    loss = tables.Column(accessor="loss", verbose_name="Held-out loss")
    accept_length = metric("accept_length", "Accept length")
    speedup = metric("speedup", "Speedup")
    tokens = metric("tokens", "Tokens")
    alive = tables.Column(accessor="pk", orderable=False, verbose_name="Alive")
    progress = tables.Column(accessor="pk", orderable=False, verbose_name="Progress")
    host = tables.Column(accessor="pk", orderable=False, verbose_name="Host")
    author = tables.Column(accessor="author__username", order_by=("author__username", "-pk"), verbose_name="Author")
    started = tables.Column(accessor="created_at", order_by=("created_at", "pk"), verbose_name="Created")
    took = tables.Column(accessor="pk", orderable=False, verbose_name="Took")

    numeric: ClassVar[frozenset[str]] = frozenset({"loss", "accept_length", "speedup", "tokens", "started", "took"})

    class Meta:
        template_name = "runs/_table.html"
        order_by = "-run"

    def order_loss(self, runs: QuerySet[Run], is_descending: bool) -> tuple[QuerySet[Run], bool]:
        return _known_first(runs, "loss", is_descending), True

    def order_accept_length(self, runs: QuerySet[Run], is_descending: bool) -> tuple[QuerySet[Run], bool]:
        return _known_first(runs, "accept_length", is_descending), True

    def order_speedup(self, runs: QuerySet[Run], is_descending: bool) -> tuple[QuerySet[Run], bool]:
        return _known_first(runs, "speedup", is_descending), True

    def order_tokens(self, runs: QuerySet[Run], is_descending: bool) -> tuple[QuerySet[Run], bool]:
        return _known_first(runs, "tokens", is_descending), True


def _known_first(runs: QuerySet[Run], name: str, is_descending: bool) -> QuerySet[Run]:
    """Runs without the number come last either way."""
    by = F(name).desc(nulls_last=True) if is_descending else F(name).asc(nulls_last=True)
    return runs.order_by(by, "-pk")


CHOICES: tuple[str, ...] = tuple(name for name in RunTable.base_columns if name != "run")
"""In the order of the table; `run` is always there."""
HEADERS: dict[str, str] = {name: str(RunTable.base_columns[name].verbose_name) for name in CHOICES}


def chosen(values: Iterable[str]) -> tuple[str, ...]:
    """The columns that `cols=state,loss` names (also given several times), in the table's order; DEFAULT without any."""
    named = {name for value in values for name in value.split(",")}
    return tuple(name for name in CHOICES if name in named) or DEFAULT


def number_of(columns: Iterable[str]) -> int:
    """A choice of columns as one number, for the name of what a page looks at."""
    return sum(1 << CHOICES.index(name) for name in columns)


def columns_of(number: int) -> tuple[str, ...]:
    """The choice with this number."""
    return tuple(name for i, name in enumerate(CHOICES) if number >> i & 1)
