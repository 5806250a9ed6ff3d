"""A filtered list of runs as a file; the address says which runs, as it does for the page."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from eagle3web.models import Project
from eagle3web.pages.run_columns import RunTable
from eagle3web.pages.run_export import as_csv, as_json
from eagle3web.pages.run_filter import RunFilter
from eagle3web.streams import download
from eagle3web.views.access import looking, person

FORMATS = {"csv": (as_csv, "text/csv; charset=utf-8"), "json": (as_json, "application/json")}


@require_safe
@looking
def export(request: HttpRequest, slug: str, kind: str) -> HttpResponseBase:
    """`runs.csv` or `runs.json`, in the order that the page has."""
    project = get_object_or_404(Project.objects.only("pk", "slug"), slug=slug)
    chosen = RunFilter(request.GET, project_id=project.pk, user_id=person(request).pk)
    runs = chosen.qs if chosen.form.is_valid() else chosen.queryset.none()
    ordered = RunTable(runs, order_by=request.GET.get("sort") or "-run").data.data
    make, content_type = FORMATS[kind]
    return download(request, make(ordered), name=f"{project.slug}-runs.{kind}", content_type=content_type)
