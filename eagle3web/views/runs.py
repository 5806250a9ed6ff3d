"""The list of a project's runs. Filters, columns, order and page stand in the address."""

from urllib.parse import urlsplit

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django_tables2 import RequestConfig

from eagle3web.forms import dress
from eagle3web.models import Project
from eagle3web.pages.rights import rights
from eagle3web.pages.run_columns import chosen, number_of
from eagle3web.pages.run_list import PER_PAGE, list_context, rows_of
from eagle3web.pages.topics import topics
from eagle3web.views.access import looking, person


@require_safe
@looking
def show(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_object_or_404(Project.objects.defer("chat_template"), slug=slug)
    partial = request.headers.get("HX-Target") == "runs-table"
    if partial and _columns_changed(request):
        # The page's socket speaks of the columns that it was opened with.
        return HttpResponse(headers={"HX-Redirect": request.get_full_path()})
    user = person(request)
    context = list_context(project, request.GET, user)
    table = context["table"]
    dress(context["filter"].form)
    RequestConfig(request, paginate=False).configure(table)
    # Not by django-tables2, which would take the size of a page from the address.
    table.paginator = Paginator(table.rows, PER_PAGE)
    table.page = table.paginator.get_page(request.GET.get("page"))
    context |= rows_of(table, user) | {
        "may": rights(user),
        "newest_first": not context["filtered"] and table.page.number == 1 and "sort" not in request.GET,
        "topics": topics(f"runs/{project.pk}/{number_of(context['columns'])}", project.pk),
    }
    return render(request, "runs/_table.html" if partial else "runs/runs.html", context)


def _columns_changed(request: HttpRequest) -> bool:
    shown = QueryDict(urlsplit(request.headers.get("HX-Current-URL", "")).query)
    return chosen(shown.getlist("cols")) != chosen(request.GET.getlist("cols"))
