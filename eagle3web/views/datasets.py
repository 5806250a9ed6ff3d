"""Datasets: the list, one dataset with its report and its prompts, and the import."""

from pathlib import Path
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from eagle3web.charts.lengths import prompt_lengths_figure
from eagle3web.domain import datasets
from eagle3web.domain.import_files import ImportRefused, importable_files, path_below_root, save_upload
from eagle3web.enums import RevisionState
from eagle3web.forms import ImportForm
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
@allowed("view_run", "add_dataset")
def import_file(request: HttpRequest) -> HttpResponse:
    """Import a file: the upload is stored at once, the reading goes on in a process of its own."""
    form = ImportForm(request.POST or None, request.FILES or None, initial={"slug": request.GET.get("slug", "")})
    if request.method == "POST" and form.is_valid():
        try:
            revision = _begin(request, form)
        except (ImportRefused, PipelineError) as error:
            form.add_error("upload" if form.cleaned_data["upload"] else "path", str(error))
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, f"{revision.file_name} is being imported")
            return redirect("dataset", revision.dataset.slug)
    context = {"form": form, "files": importable_files()}
    return render(request, "datasets/import.html", context, status=422 if form.errors else 200)


def _begin(request: HttpRequest, form: ImportForm) -> DatasetRevision:
    values = form.cleaned_data
    upload = values["upload"]
    path = save_upload(upload.chunks()) if upload else path_below_root(values["path"])
    try:
        revision = datasets.begin_import(
            path,
            slug=values["slug"],
            user=person(request),
            name=upload.name if upload else Path(values["path"]).name,
            title=values["title"],
            licence=values["licence"],
            source=values["source"],
        )
    except BaseException:
        if upload:
            path.unlink(missing_ok=True)
        raise
    datasets.import_in_background(revision, path, remove=bool(upload))
    return revision
