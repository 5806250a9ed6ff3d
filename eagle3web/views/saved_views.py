"""Views of the list of runs that people save by name."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from eagle3web.domain import saved_views
from eagle3web.models import Project, SavedView
from eagle3web.pages.run_list import view_query
from eagle3web.views.access import looking, person


@require_POST
@looking
def change(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep `query` under `name`, or forget the view `delete`. Only who may change runs shares views with the team."""
    project = get_object_or_404(Project.objects.defer("chat_template"), slug=slug)
    if "delete" in request.POST:
        return _delete(request, project)
    user, shared = person(request), bool(request.POST.get("shared"))
    if shared and not user.has_perm("eagle3web.change_run"):
        raise PermissionDenied
    query = view_query(QueryDict(request.POST.get("query", "")))
    try:
        view = saved_views.save(project, name=request.POST.get("name", ""), query=query, shared=shared, user=user)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"The view “{view.name}” is saved")
    return redirect(f"{reverse('runs', args=[project.slug])}?{query}")


def _delete(request: HttpRequest, project: Project) -> HttpResponse:
    number = request.POST["delete"]
    known = int(number) if number.isascii() and number.isdigit() and len(number) < 16 else 0
    view = get_object_or_404(SavedView, pk=known, project=project)
    saved_views.delete(view, user=person(request))
    messages.success(request, f"The view “{view.name}” is deleted")
    return redirect("runs", project.slug)
