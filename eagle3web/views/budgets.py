"""A project's budgets and their forecast; they are edited in the admin."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from eagle3web.domain.clock import database_now
from eagle3web.models import Project
from eagle3web.pages.budgets import BudgetsPage
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.views.access import looking, person


@require_safe
@looking
def show(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_object_or_404(Project.objects.only("pk"), slug=slug)
    page = BudgetsPage(project.pk, rights(person(request)))
    context = page.context(database_now()) | {"topics": topics(f"budgets/{project.pk}", project.pk)}
    return render(request, "budgets/budgets.html", context)
