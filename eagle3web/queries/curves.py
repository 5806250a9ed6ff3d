"""Chart lines of training, by step: all attempts of a run in one line, the later one winning where steps overlap."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from eagle3web.models import MetricPoint

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


def curves_of(run_id: int, *, number: int, metrics: Collection[str], up_to: int) -> Curves:
    """The lines that a run has drawn until its attempt `number`, points above the id `up_to` left out. One query."""
    rows = MetricPoint.objects.filter(
        attempt__run=run_id, attempt__number__lte=number, name__in=list(metrics), pk__lte=up_to
    ).order_by("attempt__number", "pk")
    found: dict[int, dict[str, list[tuple[int, float]]]] = {}
    for attempt, metric, series, step, value in rows.values_list("attempt__number", "name", "series", "step", "value"):
        found.setdefault(attempt, {}).setdefault(line_name(metric, series), []).append((step, value))
    starts = {attempt: min(points[0][0] for points in lines.values()) for attempt, lines in found.items()}
    lines: dict[str, list[tuple[int, float]]] = {}
    for attempt, own in found.items():
        for name, points in lines.items():
            lines[name] = [point for point in points if point[0] < starts[attempt]]
        for name, points in own.items():
            lines.setdefault(name, []).extend(points)
    return Curves(
        lines={name: _sampled(points) for name, points in lines.items()},
        resumed=sorted(starts.items())[1:],
        total=max((len(points) for points in lines.values()), default=0),
    )


def curve_points_after(
    attempt_id: int, metrics: Collection[str], after: int, *, up_to: int | None = None, limit: int = LIMIT
) -> list[tuple[int, Point]]:
    """Points with an id above `after`, as entries of a stream. One query."""
    rows = MetricPoint.objects.filter(attempt=attempt_id, name__in=list(metrics), pk__gt=after)
    if up_to is not None:
        rows = rows.filter(pk__lte=up_to)
    found = rows.order_by("pk").values_list("pk", "name", "series", "step", "value")[:limit]
    return [(pk, (line_name(metric, series), step, value)) for pk, metric, series, step, value in found]


def _sampled(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Evenly, the last one kept."""
    every = -(-len(points) // LIMIT)
    return points if every <= 1 else [*points[:-1:every], points[-1]]
