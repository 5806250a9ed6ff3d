"""Runs beside one another. Which ones, and how they are looked at, stands in the address."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from eagle3web.domain.clock import database_now
from eagle3web.models import Project
from eagle3web.pages.compare import compare_context
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.views.access import looking, person


@require_safe
@looking
def show(request: HttpRequest, slug: str) -> HttpResponse:
    """`?runs=1,2,3` in this order; `all=1` shows keys that do not differ, too. What is no run of the project is passed over."""
    project = get_object_or_404(Project.objects.defer("chat_template"), slug=slug)
    words = ",".join(request.GET.getlist("runs")).split(",")
    numbers = [int(word) for word in words if word.isascii() and word.isdigit() and len(word) < 16]
    context = compare_context(project, numbers, database_now(), everything=request.GET.get("all") == "1")
    context |= {"may": rights(person(request)), "topics": topics("", project.pk)}
    return render(request, "compare/compare.html", context)
