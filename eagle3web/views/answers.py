"""Answers: the list, what they are like together, and one of them."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from eagle3web.models import Answer, Project
from eagle3web.pages.answers import answer_context, answers_context, summary_context
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.views.access import looking, person


@require_safe
@looking
def show_all(request: HttpRequest, slug: str) -> HttpResponse:
    """`?dataset=SLUG` and filters; `after` goes on where a page ended. A part of the page asks for the table alone."""
    project = get_object_or_404(Project, slug=slug)
    context = answers_context(project, request.GET.dict(), rights(person(request)))
    if request.headers.get("HX-Target") == "answers-table":
        return render(request, "answers/_table.html", context)
    context["topics"] = topics("", project.pk)
    return render(request, "answers/answers.html", context)


@require_safe
@looking
def summary(request: HttpRequest, slug: str) -> HttpResponse:
    """The charts of one dataset, as a fragment: `?dataset=SLUG`."""
    project = get_object_or_404(Project, slug=slug)
    return render(request, "answers/_summary.html", summary_context(project, request.GET.get("dataset", "")[:80]))


@require_safe
@looking
def show(request: HttpRequest, slug: str, answer_id: int) -> HttpResponse:
    """One answer: as a page, or as what the drawer of the list shows."""
    answer = get_object_or_404(Answer.objects.select_related("project"), pk=answer_id, project__slug=slug)
    context = answer_context(answer, rights(person(request)))
    if request.headers.get("HX-Request"):
        return render(request, "answers/_answer.html", context)
    context["topics"] = topics("", answer.project_id)
    return render(request, "answers/answer.html", context)
