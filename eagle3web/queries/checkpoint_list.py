"""The list of a project's checkpoints: filtered, and sorted by what was measured of them."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from eagle3web.enums import Review
from eagle3web.models import BenchmarkRow, Checkpoint
from eagle3web.queries import checkpoints

NONE = "none"
"""In the filter by review: what nobody proposed."""
COLUMNS = {"saved": "id", "step": "step", "size": "bytes", "run": "run_id"}
"""Orders that the database has an answer to."""
Measured = dict[int, tuple[float | None, float | None]]
"""Checkpoint → accept length and speedup, of its newest benchmark."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the page's address asks for."""

    sort: str = ""
    """Of COLUMNS or MEASURED; a minus before it sorts the largest first."""
    review: str = ""
    """A Review, or NONE."""
    deleted: bool = False


def listed(project_id: int, wanted: Wanted) -> QuerySet[Checkpoint] | list[Checkpoint]:
    """All that are wanted, in their order: a queryset, or rows without anything but their keys, for `rows_of`.

    What was measured lies in JSON and in benchmarks, so that such an order is worked out here: three queries, whatever the
    number of rows.
    """
    rows = checkpoints.of_project(project_id, deleted=wanted.deleted)
    if wanted.review:
        rows = rows.filter(review="" if wanted.review == NONE else wanted.review)
    name, down = wanted.sort.removeprefix("-"), wanted.sort.startswith("-")
    if name in COLUMNS:
        return rows.order_by(f"{'-' if down else ''}{COLUMNS[name]}", "-id")
    if name not in MEASURED:
        return rows
    found = list(rows.select_related(None).only("id", "metrics"))
    measured = _measured(project_id)
    value = MEASURED[name]
    known = [(value(row, measured), row) for row in found]
    ranked = sorted((pair for pair in known if pair[0] is not None), key=lambda pair: pair[0] or 0.0, reverse=down)
    return [row for _, row in ranked] + [row for number, row in known if number is None]


def rows_of(page: Iterable[Checkpoint]) -> list[Checkpoint]:
    """The rows of one page in its order, with all that is shown. One query."""
    keys = [row.pk for row in page]
    found = {row.pk: row for row in checkpoints.light(Checkpoint.objects.filter(pk__in=keys))}
    return [found[key] for key in keys if key in found]


def is_order(text: str) -> bool:
    return text.removeprefix("-") in {**COLUMNS, **MEASURED}


def is_review(text: str) -> bool:
    return text == NONE or text in Review.values


def _metric(row: Checkpoint, name: str) -> float | None:
    value = row.metrics.get(name)
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def _accept_length(row: Checkpoint, measured: Measured) -> float | None:
    """As the list shows it: the newest benchmark's, else the evaluation's while it was trained."""
    benchmarked = measured.get(row.pk, (None, None))[0]
    return benchmarked if benchmarked is not None else _metric(row, "accept_length")


MEASURED: dict[str, Callable[[Checkpoint, Measured], float | None]] = {
    "accept": _accept_length,
    "simulated": lambda row, measured: _metric(row, "simulated_accept_length"),
    "speedup": lambda row, measured: measured.get(row.pk, (None, None))[1],
    "loss": lambda row, measured: _metric(row, "eval_loss"),
}
"""Orders by what was measured."""


def _measured(project_id: int) -> Measured:
    """Of the newest benchmark of each checkpoint: at its lowest concurrency, in its fastest shape. One query."""
    rows = BenchmarkRow.objects.filter(checkpoint__project=project_id, dataset="", mode="drafter")
    found: Measured = {}
    # The last row of a checkpoint is the one that stands.
    for key, length, speedup in rows.order_by("attempt_id", "-concurrency", "tokens_per_s").values_list(
        "checkpoint_id", "accept_length", "speedup"
    ):
        found[key] = (length, speedup)
    return found
