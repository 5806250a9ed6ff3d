"""One verb for several runs of a list: GET asks once, with what becomes of each; POST does it."""

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from eagle3web.domain import bulk
from eagle3web.forms import dress
from eagle3web.models import Project, Run
from eagle3web.pages.bulk_questions import stop_question, tag_question
from eagle3web.queries.run_list import tags_of
from eagle3web.views.access import allowed, person


class TagForm(forms.Form):
    """Tags for several runs."""

    add = forms.CharField(required=False, max_length=400, label="Add", widget=forms.TextInput(attrs={"list": "tags-known"}))
    # Not `remove`: a field of that name would hide the form element's own method from scripts.
    drop = forms.CharField(required=False, max_length=400, label="Remove", widget=forms.TextInput(attrs={"list": "tags-known"}))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self)


@require_http_methods(["GET", "POST"])
@allowed("view_run", "change_run")
def stop(request: HttpRequest, slug: str) -> HttpResponse:
    project, runs = _chosen(request, slug)
    if request.method == "GET" or not runs:
        return _ask(request, project, runs, {"question": stop_question(runs)})
    found = bulk.stop(runs, user=person(request))
    parts = [(found.asked, "asked to stop"), (found.already, "asked already"), (found.ended, "ended before")]
    said = ", ".join(f"{len(some)} {words}" for some, words in parts if some)
    return _done(request, project, said[:1].upper() + said[1:])


@require_http_methods(["GET", "POST"])
@allowed("view_run", "change_run")
def tag(request: HttpRequest, slug: str) -> HttpResponse:
    project, runs = _chosen(request, slug)
    form = TagForm(request.POST or None)
    context = {"question": tag_question(runs), "form": form, "suggestions": tags_of(project.pk)}
    if request.method == "GET" or not runs or not form.is_valid():
        return _ask(request, project, runs, context)
    add, remove = (form.cleaned_data[name].split(",") for name in ("add", "drop"))
    try:
        changed, full = bulk.tag(runs, add=add, remove=remove, user=person(request))
    except ValidationError as error:
        return _ask(request, project, runs, context | {"refusal": " ".join(error.messages)}, status=422)
    room = f"; no room for more tags on {', '.join(f'r{run.pk}' for run in full)}" if full else ""
    return _done(request, project, f"{changed} run{'' if changed == 1 else 's'} changed{room}")


def _chosen(request: HttpRequest, slug: str) -> tuple[Project, list[Run]]:
    project = get_object_or_404(Project.objects.defer("chat_template"), slug=slug)
    said = request.POST if request.method == "POST" else request.GET
    return project, bulk.chosen_runs(project, ",".join(said.getlist("runs")))


def _ask(
    request: HttpRequest, project: Project, runs: list[Run], context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    context |= {"project": project, "runs": runs, "numbers": ",".join(str(run.pk) for run in runs)}
    template = "runs/_bulk.html" if request.headers.get("HX-Request") else "runs/bulk.html"
    return render(request, template, context, status=422 if not runs else status)


def _done(request: HttpRequest, project: Project, said: str) -> HttpResponse:
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Trigger": json.dumps({"done": {"title": said}, "runs-changed": {}})})
    messages.success(request, said)
    return redirect("runs", project.slug)
