"""The forms that start a pipeline, or one of its later stages from what there is."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from eagle3web import tasks
from eagle3web.domain import chains
from eagle3web.domain.chains import Chain
from eagle3web.domain.clones import captured_of, form_values
from eagle3web.domain.forecasts import forecast
from eagle3web.domain.storage import NoRoomError, storage_forecast
from eagle3web.enums import EngineState
from eagle3web.models import Engine, Host, Project, Run, User
from eagle3web.pages.presets import preset_rows
from eagle3web.pages.rights import rights
from eagle3web.queries.standing import standings
from eagle3web.serve_forms import ServeForm
from eagle3web.stage_forms import BenchmarkForm, ExtractForm, PipelineForm, StageForm, TrainForm
from eagle3web.views.access import View, allowed, person
from eagle3web.views.new_run import cloned_run
from pipeline.errors import ConfigError


def _start_pipeline(form: Any, user: User) -> list[Run]:  # noqa: ANN401  (one of the forms of FORMS)
    chosen = form.cleaned_data
    chain = Chain(
        engines=chosen["engines"],
        concurrency=chosen["concurrency"],
        order=chosen["order"],
        retry_errors=chosen["retry_errors"],
        features=chosen["features"],
        extract={"storage_dtype": chosen["storage_dtype"]},
        train=form.training(),
        benchmark=form.measuring(),
        devices=chosen["devices"],
    )
    named = {name: chosen[name] for name in ("title", "tags", "host", "host_tags")}
    return chains.start_chain(form.project, chain, user=user, **named)


def _start_extract(form: Any, user: User) -> list[Run]:  # noqa: ANN401
    config = form.kept() | {"storage_dtype": form.cleaned_data["storage_dtype"]}
    source, parts, server = (form.cleaned_data[name] for name in ("source", "parts", "server"))
    config["server"] = str(server.pk) if server else ""
    return chains.start_extracts(source, parts=parts, user=user, config=config, **form.naming())


def _start_train(form: Any, user: User) -> list[Run]:  # noqa: ANN401
    sources = list(form.cleaned_data["sources"])
    captured = captured_of(form.cloned, sources) if form.cloned else ()
    return [chains.start_train(sources, user=user, config=form.training(), captured=captured, **form.naming())]


def _start_benchmark(form: Any, user: User) -> list[Run]:  # noqa: ANN401
    chosen = form.cleaned_data
    kept, measuring = form.kept(), form.measuring()
    config = kept | measuring | {"sampling": kept.get("sampling", {}) | measuring["sampling"]}
    return [chains.start_benchmark(chosen["source"], user=user, config=config, step=chosen["step"], **form.naming())]


def _start_serve(form: Any, user: User) -> list[Run]:  # noqa: ANN401
    chosen = form.cleaned_data
    config = form.kept() | form.serving()
    return [chains.start_serve(form.project, user=user, config=config, checkpoint=chosen["checkpoint"], **form.naming())]


Start = Callable[[Any, User], list[Run]]
FORMS: dict[str, tuple[type[StageForm], Start]] = {
    "pipeline": (PipelineForm, _start_pipeline),
    "extract": (ExtractForm, _start_extract),
    "train": (TrainForm, _start_train),
    "benchmark": (BenchmarkForm, _start_benchmark),
    "serve": (ServeForm, _start_serve),
}


def new_stage(name: str) -> View:
    """The view of one form."""
    kind, start = FORMS[name]

    @require_http_methods(["GET", "POST"])
    @allowed("view_run", "add_run")
    def view(request: HttpRequest, slug: str) -> HttpResponse:
        project = get_object_or_404(Project, slug=slug)
        hosts = list(Host.objects.order_by("name").values_list("name", flat=True))
        cloned = cloned_run(request, project, name)
        initial = _initial(request, name) | {"host_tags": ", ".join(project.host_tags)}
        initial |= form_values(cloned) if cloned else {}
        form = kind(request.POST or None, project=project, hosts=hosts, cloned=cloned, initial=initial)
        if request.method == "POST" and form.is_valid():
            made = _started(request, form, start)
            if made:
                return _seen(request, made)
        context = {"may": rights(person(request)), "project": project, "form": form, "tab": name, "cloned": cloned}
        context |= _ahead(project, name)
        return render(request, "runs/new_stage.html", context, status=422 if form.errors else 200)

    return view


def _started(request: HttpRequest, form: StageForm, start: Start) -> list[Run]:
    """The runs, queued; none when they make no sense, which the form then says."""
    try:
        with transaction.atomic():
            made = start(form, person(request))
            for run in made:
                tasks.launch_soon(run)
    except NoRoomError as error:
        form.add_error("features" if "features" in form.fields else None, f"{_sentence(error)}.")
        return []
    except ConfigError as error:
        form.add_error(None, f"{_sentence(error)}.")
        return []
    return made


def _seen(request: HttpRequest, made: list[Run]) -> HttpResponse:
    first, last = made[0], made[-1]
    messages.success(request, f"r{first.pk} is queued" if first is last else f"r{first.pk} to r{last.pk} are queued")
    return redirect("run", first.pk)


def _initial(request: HttpRequest, name: str) -> dict[str, Any]:
    """The run that a link names, the preset that the hosts are good for, engines that answer, and what they can do."""
    known = _number(request.GET.get("source", ""))
    has_gpus = any(sample.get("gpus") for sample in Host.objects.values_list("sample", flat=True))
    found: dict[str, Any] = {
        "source": known,
        "sources": [known] if known else [],
        "preset": "gpu" if has_gpus else "cpu",
    }
    if name == "serve":
        found["checkpoint"] = _number(request.GET.get("checkpoint", ""))
    if name == "pipeline":
        away = (EngineState.DOWN, EngineState.HANGING)
        engines = [engine for engine in Engine.objects.filter(enabled=True) if engine.state not in away]
        keep = bool(engines) and all(engine.info.get("capture") for engine in engines)
        found |= {"engines": engines, "features": "captured" if keep else "extract"}
    return found


def _number(text: str) -> int | None:
    """A key in an address."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _ahead(project: Project, name: str) -> dict[str, Any]:
    """What stands beside the form: budgets, and what the stages will take."""
    found: dict[str, Any] = {"presets": preset_rows()} if name in ("pipeline", "train") else {}
    if name in ("pipeline", "extract"):
        found["storage"] = storage_forecast(project)
    if name == "pipeline":
        ahead = forecast(project)
        hours = ahead.total.hours
        found |= {"standings": standings(project.pk), "forecast": ahead, "ahead_s": hours.likely * 3600 if hours else None}
    return found


def _sentence(error: ConfigError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]
