"""The form that starts a generation run over a project's budgets."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from eagle3web import tasks
from eagle3web.domain import chains
from eagle3web.domain.clones import form_values
from eagle3web.enums import EngineState, Stage
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
    cloned = cloned_run(request, project, Stage.GENERATE)
    initial = {"engines": answering, "host_tags": ", ".join(project.host_tags)} | (form_values(cloned) if cloned else {})
    form = RunForm(request.POST or None, hosts=hosts, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            run = _start(request, project, form, cloned)
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
        "cloned": cloned,
    }
    return render(request, "runs/new.html", context, status=422 if form.errors else 200)


def cloned_run(request: HttpRequest, project: Project, stage: str) -> Run | None:
    """The run that `?clone=` names, where it is one of the project's and of the form's stage."""
    named = request.GET.get("clone", "")
    if not (named.isascii() and named.isdigit() and len(named) < 16):
        return None
    return Run.objects.filter(pk=int(named), project=project, stage=stage).first()


def _start(request: HttpRequest, project: Project, form: RunForm, cloned: Run | None) -> Run:
    with transaction.atomic():
        run = chains.start_generate(project, user=person(request), cloned_from=cloned, **form.cleaned_data)
        tasks.launch_soon(run)
    return run
