"""Everything that follows from an attempt's events: rows of datasets, counters, points, checkpoints, results, sort numbers."""

from datetime import datetime

from eagle3web.domain import benchmarks, checkpoints, curves, served_engines
from eagle3web.domain.counters import Counters
from eagle3web.domain.points import Points
from eagle3web.domain.progress import Progress
from eagle3web.domain.run_numbers import RunNumbers
from eagle3web.models import Attempt
from pipeline.drafter_events import CheckpointSaved
from pipeline.event import Event
from pipeline.server_events import ServerReady


class Copies:
    """Applies events in their order, within the caller's transaction. Made anew after a failed one.

    The same events again change nothing: rows have keys, and a chart line takes no point twice.
    """

    def __init__(self, attempt: Attempt, *, again: bool = False) -> None:
        """`again`: from the first event on, which may have been applied before."""
        self._attempt = attempt
        self._points = Points(attempt, again=again)
        self._datasets = Progress(attempt, self._points)
        self._counters = Counters(attempt)
        self._numbers = RunNumbers(attempt)

    def apply(self, event: Event, t: datetime) -> bool:
        """Take the event over; whether something countable moved."""
        curves.draw(event, t, self._points)
        benchmarks.record(self._attempt, event)
        served_engines.follow(self._attempt, event, ready=self._counters.last(ServerReady.kind))
        self._numbers.apply(event)
        if isinstance(event, CheckpointSaved):
            checkpoints.record_saved(self._attempt, event, at=t)
            return True
        moved = self._datasets.apply(event, t)
        return self._counters.apply(event) or moved

    def save(self) -> None:
        self._datasets.save()
        self._counters.save()
        self._points.save()
        self._numbers.save()
