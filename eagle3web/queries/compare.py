"""What a comparison of runs reads: the runs, how their attempts went, and their lines."""

from collections.abc import Iterable, Sequence

from eagle3web.models import Attempt, BenchmarkRow, DatasetProgress, MetricPoint, Run
from eagle3web.queries.curves import Curves, curves_of

FEWEST, MOST = 2, 6
"""Runs that are compared."""


def runs_in_order(project_id: int, numbers: Sequence[int]) -> list[Run]:
    """The project's runs with these numbers, in this order, MOST at most. One query."""
    found = Run.objects.select_related("author").filter(project=project_id).in_bulk(list(dict.fromkeys(numbers))[: 4 * MOST])
    return [found[number] for number in dict.fromkeys(numbers) if number in found][:MOST]


def curves_of_runs(attempts: Iterable[Attempt], metrics: Sequence[str]) -> dict[int, Curves]:
    """Run → its lines. Two queries for each run, and one more for each earlier attempt."""
    return {attempt.run_id: curves_of(attempt.run_id, number=attempt.number, metrics=metrics) for attempt in attempts}


def tokens_over_time(attempt: Attempt) -> list[tuple[float, float]]:
    """(hours after the start, tokens on disk over all datasets), as far as the attempt told. One query.

    Until a dataset is told of, it counts with what it is first told to have: that was on disk already, or is its first answer.
    """
    points = MetricPoint.objects.filter(attempt=attempt.pk, name="tokens").order_by("pk").values_list("series", "t", "value")
    rows = list(points)
    last = {series: value for series, _, value in reversed(rows)}
    found = []
    for series, at, value in rows:
        last[series] = value
        begin = attempt.started_at or at
        found.append((max(0.0, (at - begin).total_seconds() / 3600), sum(last.values())))
    return found


def datasets_of_runs(attempts: Iterable[Attempt]) -> list[DatasetProgress]:
    """How far each dataset is in each attempt, in the order of the runs' plans. One query."""
    rows = DatasetProgress.objects.filter(attempt__in=[attempt.pk for attempt in attempts])
    return list(rows.order_by("position", "dataset"))


def results_of_runs(attempts: Iterable[Attempt]) -> list[BenchmarkRow]:
    """What each attempt measured. One query."""
    return list(BenchmarkRow.objects.filter(attempt__in=[attempt.pk for attempt in attempts]))
