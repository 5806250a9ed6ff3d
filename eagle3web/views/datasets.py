"""Datasets: the list, and one dataset with its report and its prompts."""

from typing import Any

from django.contrib import messages
from django.forms import model_to_dict
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from eagle3web.charts.lengths import prompt_lengths_figure
from eagle3web.domain import datasets
from eagle3web.enums import RevisionState
from eagle3web.forms import DatasetForm
from eagle3web.models import Dataset, DatasetRevision
from eagle3web.pages.datasets import DatasetPage, DatasetsPage, shown_prompt
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.views.access import allowed, looking, person
from pipeline.errors import PipelineError

PROMPTS = 20


@require_safe
@looking
def show_all(request: HttpRequest) -> HttpResponse:
    page = DatasetsPage(rights(person(request)))
    context = page.context() | {"topics": topics("datasets", request.session.get("project"))}
    return render(request, "datasets/datasets.html", context)


@require_safe
@looking
def show(request: HttpRequest, slug: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset.objects.only("pk"), slug=slug)
    context = DatasetPage(dataset.pk, rights(person(request))).context()
    ready = context["entry"].ready
    context["figure"] = prompt_lengths_figure(ready.token_lengths) if ready and ready.token_lengths.get("edges") else None
    context["topics"] = topics(f"dataset/{dataset.pk}", request.session.get("project"))
    return render(request, "datasets/dataset.html", context)


@require_safe
@looking
def prompts(request: HttpRequest, slug: str) -> HttpResponse:
    """A page of prompts, as a fragment: `?offset=40&q=text`."""
    dataset = get_object_or_404(Dataset, slug=slug)
    revision = dataset.revisions.filter(state=RevisionState.READY).first()
    text = request.GET.get("offset", "0")
    offset = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
    search = request.GET.get("q", "")[:200]
    context: dict[str, Any] = {
        "dataset": dataset,
        "revision": revision,
        "q": search,
        "offset": offset,
        "before": max(0, offset - PROMPTS),
    }
    if revision is not None:
        try:
            found = datasets.browse_prompts(revision, offset=offset, limit=PROMPTS, search=search)
        except OSError as error:
            context["trouble"] = f"{error.strerror}. Its files belong below EAGLE3_HOME/datasets on the web host."
        except PipelineError as error:
            context["trouble"] = str(error)
        else:
            shown = [shown_prompt(prompt) for prompt in found.prompts]
            context |= {"prompts": shown, "next": found.next_offset, "first": offset + 1, "last": offset + len(shown)}
    return render(request, "datasets/_prompts.html", context)


@require_safe
@looking
def report(request: HttpRequest, slug: str, revision_id: int) -> HttpResponseBase:
    """The whole report of a ready revision, as JSON."""
    revision = get_object_or_404(DatasetRevision, pk=revision_id, dataset__slug=slug, state=RevisionState.READY)
    path = datasets.revision_folder(revision) / "report.json"
    if not path.is_file():
        raise Http404("The report's file is gone.")
    return FileResponse(path.open("rb"), as_attachment=True, filename=f"{slug}-{revision.revision[:12]}-report.json")


@require_http_methods(["GET", "POST"])
@allowed("view_run", "change_dataset")
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """What people say about a dataset: title, where it comes from, notes."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = DatasetForm(request.POST if request.method == "POST" else None, initial=model_to_dict(dataset))
    if request.method == "POST" and form.is_valid():
        datasets.change_dataset(dataset, user=person(request), **form.cleaned_data)
        messages.success(request, f"{dataset.slug} is changed")
        return redirect("dataset", dataset.slug)
    return render(request, "datasets/edit.html", {"form": form, "dataset": dataset}, status=422 if form.errors else 200)
