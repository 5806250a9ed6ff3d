"""Chart points of a stage whose lines are whole metrics: read after a point, or between two moments."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from eagle3web.live.records import Entry
from eagle3web.models import Attempt
from eagle3web.pages.stages.base import Window
from eagle3web.queries import points


@dataclass(frozen=True)
class MetricPoints:
    metrics: Sequence[str]

    def after(self, attempt_id: int, after: int, *, up_to: int | None = None, limit: int = points.LIMIT) -> list[Entry]:
        return list(points.metrics_after(attempt_id, self.metrics, after, up_to=up_to, limit=limit))

    def within(self, attempt: Attempt, lines: Collection[str], low: int, high: int) -> Window:
        """By milliseconds; a metric is a line. One query."""
        found, total = points.points_between(attempt.pk, self.metrics, low, high)
        return Window(lines={name: own for (name, _), own in found.items() if name in lines}, total=total)
