"""Lists of runs: what is asked for each page of them."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Count, OuterRef, QuerySet, Subquery, Sum

from eagle3web.enums import RunStatus
from eagle3web.models import Attempt, DatasetProgress, Run, Transition

JUST_NOW = timedelta(minutes=10)
ROWS = 60


def runs_of(project_id: int) -> QuerySet[Run]:
    """All runs of a project, the newest first."""
    return Run.objects.filter(project=project_id).select_related("author").defer("config").order_by("-id")


def with_tokens(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Annotated with `token_sum`, what the last attempt has on disk; to sort by it."""
    last = Attempt.objects.filter(run=OuterRef(OuterRef("pk"))).order_by("-number").values("pk")[:1]
    rows = DatasetProgress.objects.filter(attempt=Subquery(last)).order_by().values("attempt")
    return runs.annotate(token_sum=Subquery(rows.annotate(sum=Sum("tokens")).values("sum")))


def last_attempts(run_ids: Iterable[int]) -> dict[int, Attempt]:
    """Run → its last attempt, with its datasets. Two queries."""
    rows = Attempt.objects.filter(run__in=list(run_ids)).order_by("run", "number")
    return {attempt.run_id: attempt for attempt in rows.prefetch_related("datasets").defer("config", "versions", "argv")}


def seconds_worked(run_ids: Iterable[int]) -> dict[int, float]:
    """Run → seconds that its ended attempts took together. One query."""
    rows = Attempt.objects.filter(run__in=list(run_ids)).order_by().values_list("run", "started_at", "ended_at")
    found: dict[int, float] = defaultdict(float)
    for run, started, ended in rows:
        if started is not None and ended is not None:
            found[run] += (ended - started).total_seconds()
    return found


def moving_runs(project_id: int, now: datetime) -> list[Run]:
    """Runs that are live or changed their status just now, the newest first. Two queries."""
    changed = Transition.objects.filter(run__project=project_id, at__gt=now - JUST_NOW).values("run")
    runs = runs_of(project_id)
    live = list(runs.filter(status__in=RunStatus.LIVE)[:ROWS])
    known = {run.pk for run in live}
    return live + [run for run in runs.filter(pk__in=changed)[:ROWS] if run.pk not in known]


def authors(project_id: int) -> list[tuple[int, str]]:
    """People who started runs of the project. One query."""
    rows = Run.objects.filter(project=project_id, author__isnull=False).order_by("author__username")
    return list(rows.values_list("author_id", "author__username").distinct())


def stages(project_id: int) -> set[str]:
    """Stages that runs of the project have. One query."""
    return set(Run.objects.filter(project=project_id).order_by().values_list("stage", flat=True).distinct())


def counts(project_id: int) -> tuple[int, int]:
    """All runs, and live ones. One query."""
    found = Run.objects.filter(project=project_id).values("status").order_by().annotate(n=Count("pk"))
    by_status = {row["status"]: row["n"] for row in found}
    return sum(by_status.values()), sum(n for status, n in by_status.items() if status in RunStatus.LIVE)
