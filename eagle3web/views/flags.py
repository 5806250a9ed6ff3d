"""Answers that people find bad: flag one, look through what is flagged, exclude or keep each."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from eagle3web.domain import flags
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.enums import FlagState
from eagle3web.models import Answer, AnswerFlag, Project
from eagle3web.pages.answers import answer_context
from eagle3web.pages.review import review_context
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.views.access import allowed, looking, person


@require_safe
@looking
def review(request: HttpRequest, slug: str) -> HttpResponse:
    """The queue of what is flagged; `?state=excluded` or `kept` shows what was decided."""
    project = get_object_or_404(Project, slug=slug)
    state = request.GET.get("state", FlagState.FLAGGED)
    if state not in FlagState.values:
        state = FlagState.FLAGGED
    context = review_context(project, state, request.GET.get("page", "1"), rights(person(request)))
    context["topics"] = topics("", project.pk)
    return render(request, "answers/review.html", context)


@require_POST
@allowed("view_run", "add_answerflag")
def flag(request: HttpRequest, slug: str, answer_id: int) -> HttpResponse:
    """Flag an answer, with a reason; answers with the answer as it then is."""
    answer = get_object_or_404(Answer.objects.select_related("project"), pk=answer_id, project__slug=slug)
    reason = request.POST.get("reason", "").strip()
    refusal = "" if reason else "Say why: whoever reviews it should not have to guess."
    if reason:
        try:
            flags.flag_answer(answer, reason=reason, user=person(request))
        except NotAllowedNow as error:
            refusal = f"Not now: {error}. Nothing was changed."
    if not request.headers.get("HX-Request") and not refusal:
        messages.success(request, "The answer is flagged")
        return redirect("answer", slug, answer.pk)
    context = answer_context(answer, rights(person(request))) | {"refusal": refusal, "reason": reason}
    context["topics"] = topics("", answer.project_id)
    template = "answers/_answer.html" if request.headers.get("HX-Request") else "answers/answer.html"
    return render(request, template, context, status=422 if refusal else 200)


@require_POST
@allowed("view_run", "change_answerflag")
def exclude(request: HttpRequest, slug: str, flag_id: int) -> HttpResponse:
    found = get_object_or_404(AnswerFlag, pk=flag_id, project__slug=slug)
    flags.exclude(found, user=person(request))
    return _decided(request, slug, found)


@require_POST
@allowed("view_run", "change_answerflag")
def keep(request: HttpRequest, slug: str, flag_id: int) -> HttpResponse:
    found = get_object_or_404(AnswerFlag, pk=flag_id, project__slug=slug)
    flags.keep(found, user=person(request))
    return _decided(request, slug, found)


def _decided(request: HttpRequest, slug: str, found: AnswerFlag) -> HttpResponse:
    """Back to the part of the queue that it was decided in; a queue on the screen changes the one entry."""
    if request.headers.get("HX-Request"):
        context = {"flag": found, "project": found.project, "may": rights(person(request)), "decided": True}
        return render(request, "answers/_flag.html", context)
    came_from = request.POST.get("state", FlagState.FLAGGED)
    messages.success(request, f"The answer is {found.state}")
    return redirect(f"{reverse('answers-review', args=[slug])}?state={came_from if came_from in FlagState.values else ''}")
