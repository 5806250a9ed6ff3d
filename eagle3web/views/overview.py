"""The first page, and one overview for each project."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from eagle3web.domain.clock import database_now
from eagle3web.models import Project
from eagle3web.pages.overview import OverviewPage
from eagle3web.pages.project_needs import needs_of
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.queries.nav import projects
from eagle3web.views.access import View, looking, person


@require_safe
@looking
def front(request: HttpRequest) -> HttpResponse:
    """The project that this person last looked at, else the first; or what to do while there is none."""
    return _lead_to("project", request)


def of_project(name: str) -> View:
    """The view of a list without its project, such as `/runs/`: leads to the list of the project that `front` would show."""

    @require_safe
    @looking
    def view(request: HttpRequest) -> HttpResponse:
        return _lead_to(name, request)

    return view


def _lead_to(name: str, request: HttpRequest) -> HttpResponse:
    found = projects()
    last = request.session.get("project")
    project = next((project for project in found if project.pk == last), found[0] if found else None)
    if project is None:
        return render(request, "overview/no_project.html", {"may": rights(person(request))})
    return redirect(reverse(name, args=[project.slug], query=request.GET))


@require_safe
@looking
def needs(request: HttpRequest, project_id: int) -> HttpResponse:
    """What the bell opens; without a script, the overview, which has the same."""
    project = get_object_or_404(Project.objects.only("slug"), pk=project_id)
    if not request.headers.get("HX-Request"):
        return redirect("project", project.slug)
    found, _look_again = needs_of(project.pk, database_now())
    return render(request, "shell/_needs.html", {"needs": found})


@require_safe
@looking
def show(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_object_or_404(Project.objects.only("pk"), slug=slug)
    page = OverviewPage(project.pk, rights(person(request)))
    context = page.context(database_now()) | {"topics": topics(f"project/{project.pk}", project.pk)}
    return render(request, "overview/overview.html", context)
