"""Chart lines of training, by step: all attempts of a run in one line, the later one winning where steps overlap."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from eagle3web.models import Attempt, MetricPoint
from eagle3web.queries.sampling import min_max

LIMIT = 2000
"""Points of one line that a chart draws; more are sampled."""

Point = tuple[str, int, float]
"""Line, step, value."""


def line_name(metric: str, series: str) -> str:
    """`loss`, `accuracy/0`: what a trace is called between the server and the browser."""
    return f"{metric}/{series}" if series else metric


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Lines of several metrics."""

    lines: Mapping[str, list[tuple[int, float]]]
    """Line → (step, value), by step."""
    resumed: list[tuple[int, int]]
    """(number, first step) of every attempt after the first one that drew anything."""
    total: int
    """Points before sampling, of the longest line."""

    @property
    def drawn(self) -> int:
        return max((len(points) for points in self.lines.values()), default=0)


def curves_of(
    run_id: int, *, number: int, metrics: Collection[str], up_to: int | None = None, steps: tuple[int, int] | None = None
) -> Curves:
    """The lines that a run has drawn until its attempt `number`, without points above the id `up_to` and beyond `steps`.

    One query for each attempt, and one for their numbers; each follows the index, so nothing is sorted.
    """
    attempts = Attempt.objects.filter(run=run_id, number__lte=number).order_by("number").values_list("pk", "number")
    lines: dict[str, list[tuple[int, float]]] = {}
    starts: list[tuple[int, int]] = []
    for attempt_id, place in attempts:
        own = _drawn(attempt_id, metrics, up_to, steps)
        if not own:
            continue
        start = min(points[0][0] for points in own.values())
        starts.append((place, start))
        for name, points in lines.items():
            if points and points[-1][0] >= start:
                lines[name] = [point for point in points if point[0] < start]
        for name, points in own.items():
            lines[name] = lines[name] + points if name in lines else points
    return Curves(
        lines={name: min_max(points, LIMIT) for name, points in lines.items()},
        resumed=starts[1:],
        total=max((len(points) for points in lines.values()), default=0),
    )


def _drawn(
    attempt_id: int, metrics: Collection[str], up_to: int | None, steps: tuple[int, int] | None
) -> dict[str, list[tuple[int, float]]]:
    """Line → all of an attempt's own points. One query."""
    rows = MetricPoint.objects.filter(attempt=attempt_id, name__in=list(metrics))
    if up_to is not None:
        rows = rows.filter(pk__lte=up_to)
    if steps is not None:
        rows = rows.filter(step__range=steps)
    found: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for metric, series, step, value in rows.order_by("name", "pk").values_list("name", "series", "step", "value"):
        found[metric, series].append((step, value))
    return {line_name(*key): points for key, points in found.items()}


def curve_points_after(
    attempt_id: int, metrics: Collection[str], after: int, *, up_to: int | None = None, limit: int = LIMIT
) -> list[tuple[int, Point]]:
    """Points with an id above `after`, as entries of a stream. One query."""
    rows = MetricPoint.objects.filter(attempt=attempt_id, name__in=list(metrics), pk__gt=after)
    if up_to is not None:
        rows = rows.filter(pk__lte=up_to)
    found = rows.order_by("pk").values_list("pk", "name", "series", "step", "value")[:limit]
    return [(pk, (line_name(metric, series), step, value)) for pk, metric, series, step, value in found]
