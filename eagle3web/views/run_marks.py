"""What people write beside a run, in place: a star, tags, notes. Each answers with its own fragment."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from eagle3web.domain import labels, stars
from eagle3web.models import Run
from eagle3web.pages.rights import rights
from eagle3web.queries.run_list import starred, tags_of
from eagle3web.views.access import allowed, looking, person


@require_POST
@looking
def star(request: HttpRequest, run_id: int) -> HttpResponse:
    """Mark the run for oneself, or take the mark away: a switch."""
    run, user = get_object_or_404(Run.objects.only("pk"), pk=run_id), person(request)
    if not stars.star(run, user=user):
        stars.unstar(run, user=user)
    if not request.headers.get("HX-Request"):
        return redirect("run", run.pk)
    return render(request, "runs/_star.html", {"run": run, "starred": bool(starred(user.pk, [run.pk]))})


@require_http_methods(["GET", "POST"])
@allowed("view_run", "change_run")
def tags(request: HttpRequest, run_id: int) -> HttpResponse:
    """GET opens the editor (`?done` closes it), POST adds `add` and takes `drop` away."""
    run = get_object_or_404(Run.objects.select_related("project"), pk=run_id)
    problem = ""
    if request.method == "POST":
        add, remove = request.POST.get("add", "").split(","), request.POST.getlist("drop")
        try:
            labels.change_tags(run, add=add, remove=remove, user=person(request))
        except ValidationError as error:
            problem = " ".join(error.messages)
    context = {"run": run, "project": run.project, "may": rights(person(request)), "problem": problem}
    context["suggestions"] = [tag for tag in tags_of(run.project_id) if tag not in run.tags]
    if not request.headers.get("HX-Request"):
        return render(request, "runs/tags.html", context, status=422 if problem else 200)
    template = "runs/_tags.html" if "done" in request.GET else "runs/_tags_editor.html"
    return render(request, template, context, status=422 if problem else 200)


@require_http_methods(["GET", "POST"])
@allowed("view_run", "change_run")
def notes(request: HttpRequest, run_id: int) -> HttpResponse:
    """GET opens the editor, POST keeps the text."""
    run = get_object_or_404(Run.objects.select_related("project"), pk=run_id)
    problem, text = "", run.notes
    if request.method == "POST":
        text = request.POST.get("notes", "")
        try:
            labels.set_notes(run, text, user=person(request))
        except ValidationError as error:
            problem = " ".join(error.messages)
    context = {"run": run, "project": run.project, "may": rights(person(request)), "problem": problem, "text": text}
    saved = request.method == "POST" and not problem
    if not request.headers.get("HX-Request"):
        if saved:
            messages.success(request, "The notes are saved")
            return redirect("run", run.pk)
        return render(request, "runs/notes.html", context, status=422 if problem else 200)
    template = "runs/_notes.html" if saved or "done" in request.GET else "runs/_notes_editor.html"
    return render(request, template, context, status=422 if problem else 200)
