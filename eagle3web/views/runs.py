"""The list of a project's runs. Filters, order and page stand in the address."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django_tables2 import RequestConfig

from eagle3web.forms import dress
from eagle3web.models import Project
from eagle3web.pages.rights import rights
from eagle3web.pages.run_list import PER_PAGE, RunFilter, RunTable
from eagle3web.pages.topics import topics
from eagle3web.queries.run_list import counts
from eagle3web.views.access import looking, person


@require_safe
@looking
def show(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_object_or_404(Project.objects.defer("chat_template"), slug=slug)
    chosen = RunFilter(request.GET, project_id=project.pk)
    dress(chosen.form)
    table = RunTable(chosen.qs if chosen.form.is_valid() else chosen.queryset.none())
    RequestConfig(request, paginate={"per_page": PER_PAGE}).configure(table)
    filtered = any(request.GET.get(name) for name in chosen.filters)
    context = {
        "may": rights(person(request)),
        "project": project,
        "filter": chosen,
        "filtered": filtered,
        "table": table,
        "counts": counts(project.pk),
        "newest_first": not filtered and table.page.number == 1 and "sort" not in request.GET,
        "topics": topics(f"runs/{project.pk}", project.pk),
    }
    partial = request.headers.get("HX-Target") == "runs-table"
    return render(request, "runs/_table.html" if partial else "runs/runs.html", context)
