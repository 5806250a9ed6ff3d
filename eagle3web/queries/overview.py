"""What needs somebody, what is running, and on which machines."""

from datetime import datetime, timedelta

from django.db.models import OuterRef, Subquery

from eagle3web.enums import AttemptStatus, EngineState, RevisionState, RunStatus, Stage
from eagle3web.models import Attempt, DatasetRevision, Engine, Host, MetricPoint, Run, Transition
from eagle3web.queries.engines import as_known

RECENT = timedelta(days=7)
QUEUED = 200
"""Queued runs that are looked at, the oldest first."""


def live_attempts(project_id: int) -> list[Attempt]:
    """Attempts at work, the newest run first. One query."""
    rows = Attempt.objects.filter(run__project=project_id, status__in=AttemptStatus.LIVE).select_related("run", "run__author")
    return list(rows.prefetch_related("datasets").defer("config", "versions").order_by("-run_id", "-number"))


def queued_runs(project_id: int) -> list[Run]:
    return list(Run.objects.filter(project=project_id, status=RunStatus.QUEUED).order_by("id")[:QUEUED])


def broken_attempts(project_id: int, now: datetime) -> list[Attempt]:
    """Last attempts of runs that failed or were lost within a week and are not settled, the newest first. One query."""
    last = Attempt.objects.filter(run=OuterRef("pk")).order_by("-number").values("pk")[:1]
    broken = Run.objects.filter(project=project_id, status__in=RunStatus.BROKEN, settled_at=None).annotate(last=Subquery(last))
    rows = Attempt.objects.filter(pk__in=broken.values("last"), ended_at__gt=now - RECENT)
    return list(rows.select_related("run").prefetch_related("datasets").defer("config", "versions").order_by("-ended_at")[:10])


def engines(now: datetime) -> list[Engine]:
    """Engines that are switched on, the worst first. One query."""
    order = [EngineState.DOWN, EngineState.HANGING, EngineState.LOADING, EngineState.UNKNOWN, EngineState.HEALTHY]
    known = as_known(Engine.objects.filter(enabled=True), now)
    return sorted(known, key=lambda engine: (order.index(EngineState(engine.state)), engine.name))


def hosts() -> list[Host]:
    return list(Host.objects.order_by("name"))


def failed_imports(now: datetime) -> list[DatasetRevision]:
    """Imports that failed within a day and were not repeated. One query."""
    newest = DatasetRevision.objects.filter(dataset=OuterRef("dataset")).order_by("-id").values("pk")[:1]
    rows = DatasetRevision.objects.filter(state=RevisionState.FAILED, created_at__gt=now - timedelta(days=1))
    return list(rows.filter(pk=Subquery(newest)).select_related("dataset")[:5])


def run_count(project_id: int) -> int:
    return Run.objects.filter(project=project_id).count()


def speed_history(project_id: int, now: datetime, *, buckets: int = 60, bucket_s: float = 60.0) -> list[float]:
    """Generated tokens a second over the last hour, oldest first, one value a minute: the mean of each dataset, added up.

    Three queries: only attempts at work, or that ended since, have such points; an hour has at most one a second and dataset.
    """
    start = now - timedelta(seconds=buckets * bucket_s)
    generating = Attempt.objects.filter(run__project=project_id, run__stage=Stage.GENERATE)
    live = generating.filter(status__in=AttemptStatus.LIVE).values_list("pk", flat=True)
    ended = Transition.objects.filter(run__project=project_id, at__gt=start).order_by().values_list("attempt", flat=True)
    points = MetricPoint.objects.filter(attempt__in={*live, *ended} - {None}, attempt__run__stage=Stage.GENERATE)
    points = points.filter(name="tokens_per_s", t__gt=start)
    sums: list[dict[tuple[int, str], list[float]]] = [{} for _ in range(buckets)]
    for attempt, series, t, value in points.values_list("attempt_id", "series", "t", "value").iterator(chunk_size=5000):
        place = min(buckets - 1, int((t - start).total_seconds() // bucket_s))
        sums[place].setdefault((attempt, series), []).append(value)
    return [sum(sum(values) / len(values) for values in bucket.values()) for bucket in sums]
