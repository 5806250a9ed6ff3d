"""Points of charts."""

from collections.abc import Collection
from datetime import UTC, datetime

from django.db.models import F, Max, Q
from django.db.models.functions import Mod

from eagle3web.models import MetricPoint
from eagle3web.queries.sampling import min_max

LIMIT = 2000
"""Points of one name that a chart draws; more are sampled."""

Point = tuple[str, int, float]
"""Series, milliseconds since 1970, value."""


def milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def newest_id(attempt_id: int) -> int:
    """Number of the attempt's newest point; 0 without any. One query."""
    return MetricPoint.objects.filter(attempt=attempt_id).aggregate(last=Max("pk"))["last"] or 0


def points_of(attempt_id: int, name: str, *, up_to: int) -> tuple[list[Point], int]:
    """Points with that name, in order, and how many there are in all. Sampled evenly above LIMIT, the last of each series kept.

    Costs two queries, and one more when it samples.
    """
    rows = MetricPoint.objects.filter(attempt=attempt_id, name=name, pk__lte=up_to)
    total = rows.count()
    if total > LIMIT:
        last = rows.order_by("series").values("series").annotate(last=Max("pk")).values_list("last", flat=True)
        rows = rows.annotate(place=Mod(F("pk"), -(-total // LIMIT))).filter(Q(place=0) | Q(pk__in=list(last)))
    found = rows.order_by("pk").values_list("series", "t", "value")
    return [(series, milliseconds(t), value) for series, t, value in found], total


def points_between(
    attempt_id: int, names: Collection[str], low: int, high: int
) -> tuple[dict[tuple[str, str], list[tuple[int, float]]], int]:
    """(metric, series) → points from `low` to `high` milliseconds, LIMIT of each line at most; and the most that one has.

    One query.
    """
    moments = [datetime.fromtimestamp(value / 1000, UTC) for value in (low, high)]
    rows = MetricPoint.objects.filter(attempt=attempt_id, name__in=list(names), t__range=moments)
    found: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for name, series, t, value in rows.order_by("name", "pk").values_list("name", "series", "t", "value"):
        found.setdefault((name, series), []).append((milliseconds(t), value))
    most = max((len(own) for own in found.values()), default=0)
    return {key: min_max(own, LIMIT) for key, own in found.items()}, most


def points_after(
    attempt_id: int, name: str, after: int, *, up_to: int | None = None, limit: int = LIMIT
) -> list[tuple[int, Point]]:
    """Points with a number above `after`, as entries of a stream. One query."""
    rows = MetricPoint.objects.filter(attempt=attempt_id, name=name, pk__gt=after)
    if up_to is not None:
        rows = rows.filter(pk__lte=up_to)
    found = rows.order_by("pk").values_list("pk", "series", "t", "value")[:limit]
    return [(pk, (series, milliseconds(t), value)) for pk, series, t, value in found]


def metrics_after(
    attempt_id: int, names: Collection[str], after: int, *, up_to: int | None = None, limit: int = LIMIT
) -> list[tuple[int, Point]]:
    """As `points_after`, for several metrics without series: each is a line of its own. One query."""
    rows = MetricPoint.objects.filter(attempt=attempt_id, name__in=list(names), series="", pk__gt=after)
    if up_to is not None:
        rows = rows.filter(pk__lte=up_to)
    found = rows.order_by("pk").values_list("pk", "name", "t", "value")[:limit]
    return [(pk, (name, milliseconds(t), value)) for pk, name, t, value in found]
