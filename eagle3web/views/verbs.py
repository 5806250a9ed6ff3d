"""What people do to a run: GET asks, with what will happen and what is kept; POST does it."""

import json
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from eagle3web import tasks
from eagle3web.domain import runs, serving
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.enums import Stage
from eagle3web.forms import ConcurrencyForm
from eagle3web.models import Run, User
from eagle3web.pages.questions import question
from eagle3web.serve_forms import DrafterForm
from eagle3web.views.access import View, allowed, person
from pipeline.errors import ConfigError

Act = Callable[[Run, User, Any], "tuple[str, Run]"]
"""Does it; returns what to say, and the run to look at."""


def _stop(run: Run, user: User, form: Any) -> tuple[str, Run]:  # noqa: ANN401  (a bound form, or None)
    asked = runs.request_stop(run, user=user)
    return ("is asked to stop" if asked else "was asked to stop already"), run


def _pause(run: Run, user: User, form: Any) -> tuple[str, Run]:  # noqa: ANN401
    runs.pause(run, user=user)
    return "is asked to pause", run


def _unpause(run: Run, user: User, form: Any) -> tuple[str, Run]:  # noqa: ANN401
    runs.unpause(run, user=user)
    return "is asked to go on", run


def _resume(run: Run, user: User, form: Any) -> tuple[str, Run]:  # noqa: ANN401
    with transaction.atomic():
        if not runs.resume(run, user=user):
            return "is being resumed already", run
        tasks.launch_soon(run)
    return "is queued", run


def _settle(run: Run, user: User, form: Any) -> tuple[str, Run]:  # noqa: ANN401
    return ("is settled" if runs.settle(run, user=user) else "was settled already"), run


def _concurrency(run: Run, user: User, form: Any) -> tuple[str, Run]:  # noqa: ANN401
    runs.set_concurrency(run, form.cleaned_data["concurrency"], user=user)
    return f"is asked for {form.cleaned_data['concurrency']} requests in flight", run


def _drafter(run: Run, user: User, form: Any) -> tuple[str, Run]:  # noqa: ANN401
    checkpoint = form.cleaned_data["checkpoint"]
    serving.swap_drafter(run, checkpoint, user=user)
    return f"is asked to draft with {checkpoint or 'nothing'}", run


def _clone(run: Run, user: User, form: Any) -> tuple[str, Run]:  # noqa: ANN401
    with transaction.atomic():
        new = runs.clone(run, user=user, changes={})
        tasks.launch_soon(new)
    return "is queued", new


ACTS: dict[str, Act] = {
    "stop": _stop,
    "pause": _pause,
    "unpause": _unpause,
    "resume": _resume,
    "settle": _settle,
    "concurrency": _concurrency,
    "drafter": _drafter,
    "clone": _clone,
}
FORMS: dict[str, Any] = {"concurrency": ConcurrencyForm, "drafter": DrafterForm}
"""Verbs that ask for more than a yes."""
MOVES_ON = frozenset({"resume", "clone"})
"""Verbs after which another page is of interest."""


CLONED_AT: dict[str, str] = {
    Stage.GENERATE: "run-new",
    Stage.EXTRACT: "run-new-extract",
    Stage.TRAIN: "run-new-train",
    Stage.BENCHMARK: "run-new-benchmark",
    Stage.SERVE: "run-new-serve",
}
"""Stage → the form that makes a run like another, with changes."""


def verb(name: str) -> View:
    """The view of one verb."""

    @require_http_methods(["GET", "POST"])
    @allowed("view_run", "add_run" if name == "clone" else "change_run")
    def view(request: HttpRequest, run_id: int) -> HttpResponse:
        run = get_object_or_404(Run.objects.select_related("project"), pk=run_id)
        # A form whose only choice is left empty is bound all the same.
        given = request.POST if request.method == "POST" else None
        form = FORMS[name](given, run=run) if name in FORMS else None
        if request.method == "GET":
            return _ask(request, name, run, form)
        if form is not None and not form.is_valid():
            return _ask(request, name, run, form, status=422)
        try:
            said, after = ACTS[name](run, person(request), form)
        except (NotAllowedNow, ConfigError) as error:
            return _ask(request, name, run, form, status=409, refusal=str(error))
        return _done(request, name, after, f"r{after.pk} {said}")

    return view


def _ask(request: HttpRequest, name: str, run: Run, form: Any, *, status: int = 200, refusal: str = "") -> HttpResponse:  # noqa: ANN401
    context = {"run": run, "project": run.project, "back": reverse("run", args=[run.pk]), "question": question(name, run)}
    context |= {"form": form, "refusal": refusal}
    if name == "clone" and run.stage in CLONED_AT:
        context["change_first"] = reverse(CLONED_AT[run.stage], args=[run.project.slug], query={"clone": run.pk})
    template = "runs/_question.html" if request.headers.get("HX-Request") else "runs/question.html"
    return render(request, template, context, status=status)


def _done(request: HttpRequest, name: str, run: Run, said: str) -> HttpResponse:
    place = reverse("run", args=[run.pk])
    if not request.headers.get("HX-Request"):
        messages.success(request, said)
        return redirect(place)
    if name in MOVES_ON:
        messages.success(request, said)
        return HttpResponse(status=204, headers={"HX-Redirect": place})
    return HttpResponse(status=204, headers={"HX-Trigger": json.dumps({"done": {"title": said}})})
