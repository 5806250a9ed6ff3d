"""Which runs an operation speaks of."""

from collections.abc import Iterable
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery
from ninja import Field

from eagle3web.api.base import Paging, Text
from eagle3web.enums import RunStatus
from eagle3web.models import Attempt, Run
from eagle3web.queries.run_list import tagged


class RunFilter(Paging):
    project: Text = ""
    stage: Text = ""
    status: list[Text] = Field([], max_length=10)
    """Any of these; `live` stands for queued, starting, running and stopping."""
    tag: Text = ""
    author: Text = ""
    q: Text = Field("", max_length=200)
    """Part of the title, the run's number, or its config hash."""


def chosen(query: RunFilter) -> QuerySet[Any]:
    """The runs that a filter finds, the newest first."""
    rows = all_runs()
    for field, lookup in {"project": "project__slug", "stage": "stage", "author": "author__username"}.items():
        if value := getattr(query, field):
            rows = rows.filter(**{lookup: value})
    if query.status:
        rows = rows.filter(status__in=_statuses(query.status))
    if query.q:
        number = Q(pk=int(query.q)) if query.q.isascii() and query.q.isdigit() and len(query.q) < 19 else Q()
        rows = rows.filter(Q(title__icontains=query.q) | Q(config_hash=query.q) | number)
    return rows.filter(tagged(query.tag)) if query.tag else rows


def all_runs() -> QuerySet[Any]:
    """With what answers need: project, people, and the id of the last attempt."""
    newest = Attempt.objects.filter(run=OuterRef("pk")).order_by("-number").values("pk")[:1]
    return Run.objects.select_related("project", "author", "stop_requested_by").annotate(last_attempt_id=Subquery(newest))


def _statuses(names: Iterable[str]) -> set[str]:
    wanted = set(names)
    return wanted - {"live"} | RunStatus.LIVE if "live" in wanted else wanted
