"""The numbers that lists of runs sort by: copies beside each run, brought up to date as its events come in."""

from collections.abc import Callable, Iterable, Mapping

from django.db.models import Max, Min, Sum

from eagle3web.models import Attempt, BenchmarkRow, DatasetProgress, MetricPoint, Run
from pipeline.drafter_events import BenchmarkSummarised, DecodeEvalLogged, EvalLogged
from pipeline.event import Event
from pipeline.events import DatasetFinished, DatasetSkipped, DatasetStarted, GenerationProgress

STALE_AFTER: Mapping[type[Event], tuple[str, ...]] = {
    DatasetStarted: ("tokens",),
    DatasetSkipped: ("tokens",),
    DatasetFinished: ("tokens",),
    GenerationProgress: ("tokens",),
    EvalLogged: ("loss",),
    DecodeEvalLogged: ("accept_length",),
    BenchmarkSummarised: ("accept_length", "speedup"),
}
"""Kind of event → the copies that it may change."""


class RunNumbers:
    """Notes which copies of an attempt's run are stale; `save` reads them again from the rows that were written by then."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._stale: set[str] = set()

    def apply(self, event: Event) -> None:
        self._stale.update(STALE_AFTER.get(type(event), ()))

    def save(self) -> None:
        """Write what changed, in the caller's transaction; a measured speedup also to the run that trained the drafter."""
        if not self._stale:
            return
        refresh(self._attempt.run_id, self._stale)
        if "speedup" in self._stale:
            measured = BenchmarkRow.objects.filter(attempt=self._attempt).exclude(checkpoint=None)
            for run_id in measured.order_by().values_list("checkpoint__run_id", flat=True).distinct():
                refresh(run_id, ("speedup",))
        self._stale.clear()


def refresh(run_id: int, names: Iterable[str]) -> None:
    """Read these copies of a run from its rows again. One or two queries for each, and one more."""
    Run.objects.filter(pk=run_id).update(**{name: READERS[name](run_id) for name in names})


def _tokens(run_id: int) -> int:
    last = Attempt.objects.filter(run=run_id).order_by("-number").values_list("pk", flat=True).first()
    return DatasetProgress.objects.filter(attempt=last).aggregate(sum=Sum("tokens"))["sum"] or 0


def _loss(run_id: int) -> float | None:
    points = MetricPoint.objects.filter(attempt__run=run_id, name="eval_loss", series="")
    found: float | None = points.aggregate(best=Min("value"))["best"]
    return found


def _accept_length(run_id: int) -> float | None:
    """Decoded while training, or measured by a benchmark."""
    points = MetricPoint.objects.filter(attempt__run=run_id, name="accept_length", series="")
    rows = BenchmarkRow.objects.filter(attempt__run=run_id, mode="drafter", dataset="")
    both = (points.aggregate(best=Max("value"))["best"], rows.aggregate(best=Max("accept_length"))["best"])
    return max((value for value in both if value is not None), default=None)


def _speedup(run_id: int) -> float | None:
    """What the run measured, or what was measured of a drafter that it trained."""
    rows = BenchmarkRow.objects.filter(mode="drafter", dataset="")
    both = [
        rows.filter(**{path: run_id}).aggregate(best=Max("speedup"))["best"] for path in ("attempt__run", "checkpoint__run")
    ]
    return max((value for value in both if value is not None), default=None)


READERS: Mapping[str, Callable[[int], float | None]] = {
    "tokens": _tokens,
    "loss": _loss,
    "accept_length": _accept_length,
    "speedup": _speedup,
}
