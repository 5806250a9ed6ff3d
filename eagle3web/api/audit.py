"""The audit trail, for programs that keep it elsewhere."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest, HttpResponseBase
from ninja import Field, Query, Router, Schema

from eagle3web.api.auth import may
from eagle3web.api.base import Out, Text
from eagle3web.days import Moment
from eagle3web.pages.audit_export import as_csv, as_json
from eagle3web.queries import audit
from eagle3web.streams import download

router = Router(tags=["audit"])


class EntryOut(Out):
    id: int
    at: datetime
    person: str | None = Field(None, alias="user.username")
    """Null when the system acted by itself."""
    verb: str
    thing: str = Field(alias="target")
    detail: dict[str, Any]


class Entries(Out):
    items: list[EntryOut]
    """The newest first."""
    before: int | None
    """Goes on to older ones; null at the end. Entries that come meanwhile move nothing."""


class Wanted(Schema):
    person: Text = Field("", max_length=150)
    """A username; `system` for what nobody did."""
    verb: Text = Field("", max_length=40)
    """Such as `run.stop`, or `run` for all of them."""
    thing: Text = Field("", max_length=200)
    since: Moment | None = None
    until: Moment | None = None

    @property
    def filter(self) -> audit.AuditFilter:
        return audit.AuditFilter(**self.model_dump(include={"person", "verb", "thing", "since", "until"}))


class Export(Wanted):
    format: Literal["csv", "json"] = "json"


class EntryFilter(Wanted):
    before: int | None = Field(None, ge=1, le=2**63 - 1)
    limit: int = Field(100, ge=1, le=500)


@router.get("", auth=may("view_auditentry"), response=Entries)
def list_audit(request: HttpRequest, query: Query[EntryFilter]) -> dict[str, Any]:
    """Who did what to what."""
    found, before = audit.slice_of(audit.entries(query.filter), before=query.before, limit=query.limit)
    return {"items": found, "before": before}


@router.get("/export", auth=may("view_auditentry"))
def export_audit(request: HttpRequest, query: Query[Export]) -> HttpResponseBase:
    """All entries that the filter finds, the newest first, as a file."""
    make, kind = (as_csv, "text/csv; charset=utf-8") if query.format == "csv" else (as_json, "application/json")
    return download(request, make(audit.entries(query.filter)), name=f"audit.{query.format}", content_type=kind)
