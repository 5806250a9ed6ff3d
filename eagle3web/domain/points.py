"""Points of chart lines, as many as a chart can use: the longer an attempt runs, the further apart they stand."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db.models import Max, Min

from eagle3web.domain.fitting import fit
from eagle3web.models import Attempt, MetricPoint

POINT_EVERY = timedelta(seconds=1)
"""Two points of one line are at least this far apart, where not every one counts."""
SPREAD = 1000
"""From so many seconds on, the distance is the attempt's age over this: days of training fit in some thousand points."""


class Points:
    """Collects an attempt's new points; `save` writes them. Made anew after a failed transaction.

    Order is that of the events, whatever their clock says: it may be set back, and a line goes on all the same.
    """

    def __init__(self, attempt: Attempt, *, again: bool = False) -> None:
        """`again`: the file is read from its beginning, perhaps not for the first time; points that are there stay alone."""
        self._attempt = attempt
        self._new: list[MetricPoint] = []
        self._last: dict[tuple[str, str], datetime] = {}
        self._first: datetime | None = None
        self._there: set[tuple[str, str, datetime]] = set()
        rows = MetricPoint.objects.filter(attempt=attempt)
        if again:
            self._there = set(rows.values_list("name", "series", "t"))
            return
        newest = rows.order_by().values("name", "series").annotate(last=Max("pk")).values("last")
        self._last = {(name, series): t for name, series, t in rows.filter(pk__in=newest).values_list("name", "series", "t")}
        self._first = rows.aggregate(first=Min("t"))["first"]

    def is_due(self, name: str, series: str, t: datetime, *, spread: bool = False) -> bool:
        """Whether a line may have its next point. With `spread` the distance grows with the attempt's age."""
        last = self._last.get((name, series))
        if last is None or t < last:
            return True
        age = t - self._first if spread and self._first else timedelta(0)
        return t - last >= max(POINT_EVERY, age / SPREAD)

    def draw(self, t: datetime, values: Mapping[tuple[str, str], float], *, step: int = 0) -> None:
        """Add one point to each line, named by metric and series."""
        for (name, series), value in values.items():
            key = (name[:40], series[:80])
            self._last[key] = t
            self._first = self._first or t
            if (*key, t) in self._there:
                continue
            point = MetricPoint(attempt=self._attempt, name=key[0], series=key[1], t=t, step=fit(step, bits=63), value=value)
            self._new.append(point)

    def save(self) -> None:
        MetricPoint.objects.bulk_create(self._new, batch_size=500)
        self._new.clear()
