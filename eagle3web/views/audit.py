"""Who did what to what: the trail with its filters, and the same as a file."""

import json
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from eagle3web.audit_forms import AuditForm
from eagle3web.models import AuditEntry
from eagle3web.pages.audit import PER_PAGE, shown_entry
from eagle3web.pages.topics import topics
from eagle3web.queries import audit
from eagle3web.spreadsheets import lines
from eagle3web.views.access import allowed

COLUMNS = ("id", "at", "person", "verb", "thing", "detail")
LONGEST_KEY = 18
"""Digits that fit into a database's 64 bits."""


@require_safe
@allowed("view_auditentry")
def show(request: HttpRequest) -> HttpResponse:
    """Filters stand in the address; `?before=KEY` goes on to older entries."""
    form = _form(request)
    before = request.GET.get("before", "")
    number = int(before) if before.isascii() and before.isdigit() and len(before) <= LONGEST_KEY else None
    found: list[AuditEntry] = []
    older: int | None = None
    if form.is_valid():
        found, older = audit.slice_of(audit.entries(form.wanted), before=number, limit=PER_PAGE)
    context = {
        "form": form,
        "filtered": any(request.GET.get(name) for name in form.fields),
        "entries": [shown_entry(entry) for entry in found],
        "older": older,
        "first_page": number is None,
        "query": _without(request, "before"),
        "topics": topics("", request.session.get("project")),
    }
    partial = request.headers.get("HX-Target") == "audit-table"
    return render(request, "audit/_table.html" if partial else "audit/audit.html", context)


@require_safe
@allowed("view_auditentry")
def export(request: HttpRequest, kind: str) -> HttpResponse | StreamingHttpResponse:
    """What the page's filters find, streamed whole: `csv` for spreadsheets, `json` as one object a line."""
    form = _form(request)
    if not form.is_valid():
        return HttpResponse("A filter makes no sense; see the page.", status=422, content_type="text/plain")
    rows = audit.walk(audit.entries(form.wanted))
    body, mime = (_csv(rows), "text/csv") if kind == "csv" else (_json(rows), "application/x-ndjson")
    headers = {"Content-Disposition": f'attachment; filename="audit.{kind}"', "X-Content-Type-Options": "nosniff"}
    return StreamingHttpResponse(body, content_type=f"{mime}; charset=utf-8", headers=headers)


def record_of(entry: AuditEntry) -> dict[str, object]:
    """One entry as programs read it."""
    values = (
        entry.pk,
        entry.at.isoformat(),
        entry.user.username if entry.user else None,
        entry.verb,
        entry.target,
        entry.detail,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _form(request: HttpRequest) -> AuditForm:
    return AuditForm(request.GET, people=audit.people(), verbs=audit.verbs())


def _csv(rows: Iterator[AuditEntry]) -> Iterator[str]:
    yield from lines([COLUMNS])
    for entry in rows:
        record = record_of(entry) | {"detail": json.dumps(entry.detail, ensure_ascii=False)}
        yield from lines([[value if value is not None else "" for value in record.values()]])


def _json(rows: Iterator[AuditEntry]) -> Iterator[str]:
    for entry in rows:
        yield json.dumps(record_of(entry), ensure_ascii=False) + "\n"


def _without(request: HttpRequest, name: str) -> str:
    """The address's query without one of its names."""
    query = request.GET.copy()
    query.pop(name, None)
    return query.urlencode()
