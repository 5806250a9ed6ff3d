"""The form that starts a generation run over a project's budgets."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from eagle3web import tasks
from eagle3web.domain import chains
from eagle3web.enums import EngineState
from eagle3web.forms import RunForm
from eagle3web.models import Engine, Host, Project, Run
from eagle3web.pages.rights import rights
from eagle3web.queries.standing import standings
from eagle3web.views.access import allowed, person
from pipeline.errors import ConfigError


@require_http_methods(["GET", "POST"])
@allowed("view_run", "add_run")
def show(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_object_or_404(Project, slug=slug)
    hosts = list(Host.objects.order_by("name").values_list("name", flat=True))
    engines = Engine.objects.filter(enabled=True)
    answering = [engine for engine in engines if engine.state not in (EngineState.DOWN, EngineState.HANGING)]
    form = RunForm(request.POST or None, hosts=hosts, initial={"engines": answering})
    if request.method == "POST" and form.is_valid():
        try:
            run = _start(request, project, form)
        except ConfigError as error:
            form.add_error(None, f"{error}.")
        else:
            messages.success(request, f"r{run.pk} is queued")
            return redirect("run", run.pk)
    context = {
        "may": rights(person(request)),
        "project": project,
        "form": form,
        "engines": engines,
        "standings": standings(project.pk),
        "tab": "generate",
    }
    return render(request, "runs/new.html", context, status=422 if form.errors else 200)


def _start(request: HttpRequest, project: Project, form: RunForm) -> Run:
    with transaction.atomic():
        run = chains.start_generate(project, user=person(request), **form.cleaned_data)
        tasks.launch_soon(run)
    return run
