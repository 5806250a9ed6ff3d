"""Retention: the rules, what they would remove now, and what was removed."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Field, Query, Router

from eagle3web.api.auth import may
from eagle3web.api.base import Out, Page, Paging, page
from eagle3web.models import Pruned
from eagle3web.pages import retention
from eagle3web.queries.retention import policies

router = Router(tags=["retention"])


class RuleOut(Out):
    kind: str
    project: str | None = Field(None, alias="project.slug")
    """Null for the rule of all projects that have no rule of their own."""
    enabled: bool
    days: int
    keep_last: int


class LineOut(Out):
    """What one run would lose of one kind."""

    run: int = Field(alias="run.pk")
    kind: str
    things: int
    count: int
    """Lines, events, points, answers or checkpoints."""
    bytes: int


class PreviewOut(Out):
    things: int
    bytes: int
    lines: list[LineOut]
    """The largest first."""
    more: int
    """Lines that are left out."""


class PrunedOut(Out):
    kind: str
    run: int = Field(alias="run_id")
    attempt: int | None = Field(None, alias="attempt.number")
    checkpoint: int | None = Field(None, alias="checkpoint_id")
    host: str
    count: int
    bytes: int
    policy: str
    person: str | None = Field(None, alias="author.username")
    """Null when the system did it by itself."""
    decided_at: datetime
    removed_at: datetime | None
    """Null while its host has not deleted it."""


class PrunedFilter(Paging):
    run: int | None = Field(None, ge=1, le=2**63 - 1)


@router.get("/rules", auth=may("view_run"), response=list[RuleOut])
def list_rules(request: HttpRequest) -> list[Any]:
    """Those that are switched off as well; nothing is removed by these."""
    return list(policies())


@router.get("/preview", auth=may("view_run"), response=PreviewOut)
def preview(request: HttpRequest) -> retention.Preview:
    """What would go if everything were pruned now. `manage.py prune --yes` removes it."""
    return retention.preview()


@router.get("/pruned", auth=may("view_run"), response=Page[PrunedOut])
def list_pruned(request: HttpRequest, query: Query[PrunedFilter]) -> dict[str, Any]:
    """What was removed, the newest first; of one run with `run`."""
    rows = Pruned.objects.select_related("attempt", "author").order_by("-pk")
    return page(rows if query.run is None else rows.filter(run=query.run), query)
