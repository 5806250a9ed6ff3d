"""The list in the command palette."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from eagle3web.models import Project
from eagle3web.pages.rights import rights
from eagle3web.pages.search import find
from eagle3web.views.access import looking, person


@require_safe
@looking
def show(request: HttpRequest) -> HttpResponse:
    """The options for `?q=`; pages and acts are of the project that this person last looked at."""
    typed = request.GET.get("q", "").replace("\x00", "")
    project = Project.objects.filter(pk=request.session.get("project", 0)).only("slug", "name").first()
    hits = find(typed, project, rights(person(request)))
    return render(request, "search/_hits.html", {"hits": hits, "typed": typed})
