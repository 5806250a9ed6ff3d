"""Lists of runs: what is asked for each page of them."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Substr

from eagle3web.enums import RunStatus
from eagle3web.models import Attempt, Run, Star, Transition

JUST_NOW = timedelta(minutes=10)
ROWS = 60
NOTE = 200
"""Characters of a run's notes that a list needs."""
ASKED = 100
"""Characters of a tag that is looked for; stored ones are shorter."""
LOOKED_AT = 1000
"""Newest runs whose tags are offered."""


def runs_of(project_id: int) -> QuerySet[Run]:
    """All runs of a project, the newest first; `note` is how its notes begin."""
    rows = Run.objects.filter(project=project_id).select_related("author").defer("config", "notes")
    return rows.annotate(note=Substr("notes", 1, NOTE)).order_by("-id")


def tagged(tag: str) -> Q:
    """Runs that have this tag, whatever its case. Tags are stored as JSON, escaped in one database and not in the other."""
    tag = tag[:ASKED]
    return Q(tags__icontains=json.dumps(tag)) | Q(tags__icontains=json.dumps(tag, ensure_ascii=False))


def saying(text: str) -> Q:
    """Runs that hold the text in their title, tags, notes or author's name, or that have this number or config hash."""
    in_tags = Q(tags__icontains=text) | Q(tags__icontains=json.dumps(text)[1:-1])
    wanted = Q(title__icontains=text) | in_tags | Q(notes__icontains=text)
    wanted |= Q(author__username__icontains=text) | Q(config_hash=text)
    number = text.removeprefix("r")
    if number.isascii() and number.isdigit() and len(number) < 16:
        wanted |= Q(pk=int(number))
    return wanted


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


def tags_of(project_id: int) -> list[str]:
    """Tags of the project's newest runs, the most used first. One query."""
    rows = Run.objects.filter(project=project_id).order_by("-id").values_list("tags", flat=True)[:LOOKED_AT]
    return [tag for tag, _ in Counter(tag for tags in rows for tag in tags).most_common(100)]


def starred(user_id: int, run_ids: Iterable[int]) -> frozenset[int]:
    """Those of the runs that the person has starred. One query."""
    return frozenset(Star.objects.filter(user=user_id, run__in=list(run_ids)).values_list("run_id", flat=True))


def counts(project_id: int) -> tuple[int, int]:
    """All runs, and live ones. One query."""
    found = Run.objects.filter(project=project_id).values("status").order_by().annotate(n=Count("pk"))
    by_status = {row["status"]: row["n"] for row in found}
    return sum(by_status.values()), sum(n for status, n in by_status.items() if status in RunStatus.LIVE)
