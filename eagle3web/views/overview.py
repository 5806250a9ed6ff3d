"""The first page, and one overview for each project."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from eagle3web.domain.clock import database_now
from eagle3web.models import Project
from eagle3web.pages.overview import OverviewPage
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.queries.nav import projects
from eagle3web.views.access import looking, person


@require_safe
@looking
def front(request: HttpRequest) -> HttpResponse:
    """The project that this person last looked at, else the first; or what to do while there is none."""
    found = projects()
    last = request.session.get("project")
    project = next((project for project in found if project.pk == last), found[0] if found else None)
    if project is None:
        return render(request, "overview/no_project.html", {"may": rights(person(request))})
    return redirect("project", project.slug)


@require_safe
@looking
def show(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_object_or_404(Project.objects.only("pk"), slug=slug)
    page = OverviewPage(project.pk, rights(person(request)))
    context = page.context(database_now()) | {"topics": topics(f"project/{project.pk}", project.pk)}
    return render(request, "overview/overview.html", context)
