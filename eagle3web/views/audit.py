"""Who did what to what: the trail with its filters, and the same as a file."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from eagle3web.audit_forms import AuditForm
from eagle3web.models import AuditEntry
from eagle3web.pages.audit import PER_PAGE, shown_entry
from eagle3web.pages.audit_export import as_csv, as_json
from eagle3web.pages.topics import topics
from eagle3web.pages.typed import whole
from eagle3web.queries import audit
from eagle3web.streams import download
from eagle3web.views.access import allowed

MAKERS = {"csv": as_csv, "json": as_json}
MIME = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


@require_safe
@allowed("view_auditentry")
def show(request: HttpRequest) -> HttpResponse:
    """Filters stand in the address; `?before=KEY` goes on to older entries."""
    form = _form(request)
    before = whole(request.GET.get("before", ""))
    found: list[AuditEntry] = []
    older: int | None = None
    if form.is_valid():
        found, older = audit.slice_of(audit.entries(form.wanted), before=before, limit=PER_PAGE)
    context = {
        "form": form,
        "filtered": any(request.GET.get(name) for name in form.fields),
        "entries": [shown_entry(entry) for entry in found],
        "older": older,
        "first_page": before is None,
        "query": _without(request, "before"),
        "topics": topics("", request.session.get("project")),
    }
    return render(request, "audit/audit.html", context)


@require_safe
@allowed("view_auditentry")
def export(request: HttpRequest, kind: str) -> HttpResponseBase:
    """What the page's filters find, streamed whole, as `csv` or `json`."""
    form = _form(request)
    if not form.is_valid():
        return HttpResponse("A filter makes no sense; see the page.", status=422, content_type="text/plain")
    return download(request, MAKERS[kind](audit.entries(form.wanted)), name=f"audit.{kind}", content_type=MIME[kind])


def _form(request: HttpRequest) -> AuditForm:
    return AuditForm(request.GET, people=audit.people(), verbs=audit.verbs())


def _without(request: HttpRequest, name: str) -> str:
    """The address's query without one of its names."""
    query = request.GET.copy()
    query.pop(name, None)
    return query.urlencode()
