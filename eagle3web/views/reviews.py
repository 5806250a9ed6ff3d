"""Proposing, approving and rejecting a checkpoint. GET asks, POST says it; both work without a script."""

import json
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from eagle3web.domain import reviews
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.enums import Review
from eagle3web.models import Checkpoint
from eagle3web.pages.checkpoint_questions import review_question
from eagle3web.talk_forms import NoteForm
from eagle3web.views.access import View, allowed, person

ACTS: dict[str, tuple[Review, Callable[..., Any]]] = {
    "propose": (Review.PROPOSED, reviews.propose),
    "approve": (Review.APPROVED, reviews.approve),
    "reject": (Review.REJECTED, reviews.reject),
}


def say(name: str) -> View:
    """The view of one word."""
    state, act = ACTS[name]

    @require_http_methods(["GET", "POST"])
    @allowed("view_run", "change_checkpoint")
    def view(request: HttpRequest, checkpoint_id: int) -> HttpResponse:
        row = get_object_or_404(Checkpoint.objects.select_related("project", "run"), pk=checkpoint_id)
        form = NoteForm(request.POST if request.method == "POST" else None, needed=state == Review.REJECTED)
        if request.method == "GET":
            return _ask(request, row, state, form)
        if not form.is_valid():
            return _ask(request, row, state, form, status=422)
        try:
            act(row, user=person(request), note=form.cleaned_data["note"])
        except NotAllowedNow as error:
            return _ask(request, row, state, form, status=409, refusal=str(error))
        return done(request, f"{row} is {state}", reverse("checkpoint", args=[row.pk]))

    return view


def done(request: HttpRequest, said: str, place: str) -> HttpResponse:
    """Say that it was done: as a toast on the page that is open, or on the page that follows."""
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Trigger": json.dumps({"done": {"title": said}})})
    messages.success(request, said)
    return redirect(place)


def _ask(
    request: HttpRequest, row: Checkpoint, state: Review, form: NoteForm, *, status: int = 200, refusal: str = ""
) -> HttpResponse:
    context = {
        "project": row.project,
        "checkpoint": row,
        "back": reverse("checkpoint", args=[row.pk]),
        "question": review_question(row, state, person(request)),
        "form": form,
        "refusal": refusal,
    }
    template = "runs/_question.html" if request.headers.get("HX-Request") else "checkpoints/question.html"
    return render(request, template, context, status=status)
