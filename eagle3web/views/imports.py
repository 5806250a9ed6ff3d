"""The import of a file of prompts: the upload is stored at once, the reading goes on in a process of its own."""

from pathlib import Path

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from eagle3web.domain import datasets
from eagle3web.domain.import_files import ImportRefused, importable_files, path_below_root
from eagle3web.domain.uploads import Upload, keep_upload, kept_upload
from eagle3web.enums import RevisionState
from eagle3web.forms import ImportForm
from eagle3web.models import DatasetRevision
from eagle3web.views.access import allowed, person
from pipeline.errors import PipelineError


@require_http_methods(["GET", "POST"])
@allowed("view_run", "add_dataset")
def show(request: HttpRequest) -> HttpResponse:
    """The form. A file that was uploaded is kept while the rest of the form is mended."""
    sent = request.method == "POST"
    form = ImportForm(
        request.POST if sent else None, request.FILES if sent else None, initial={"slug": request.GET.get("slug", "")}
    )
    kept = None
    if sent:
        valid = form.is_valid()
        try:
            kept = _uploaded(request, form)
            revision = _begin(request, form, kept) if valid else None
        except (ImportRefused, PipelineError) as error:
            form.add_error("path" if form.cleaned_data.get("path") else "upload", str(error))
        except ValidationError as error:
            form.add_error(None, error)
        else:
            if revision is not None:
                messages.success(request, f"{revision.file_name} is being imported")
                return redirect("dataset", revision.dataset.slug)
    context = {"form": form, "files": importable_files(), "kept": kept}
    return render(request, "datasets/import.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@allowed("view_run", "add_dataset")
def dismiss(request: HttpRequest, slug: str, revision_id: int) -> HttpResponse:
    """Forget a failed import; a dataset that has nothing else goes with it. GET asks."""
    revision = get_object_or_404(DatasetRevision.objects.select_related("dataset"), pk=revision_id, dataset__slug=slug)
    if revision.state != RevisionState.FAILED:
        return redirect("dataset", slug)
    if request.method == "GET":
        alone = not datasets.needed_without(revision)
        return render(request, "datasets/dismiss.html", {"revision": revision, "dataset": revision.dataset, "alone": alone})
    dataset = datasets.dismiss_import(revision, user=person(request))
    messages.success(request, f"The failed import of {revision.file_name} is dismissed")
    return redirect("dataset", dataset.slug) if dataset else redirect("datasets")


def _uploaded(request: HttpRequest, form: ImportForm) -> Upload | None:
    """The file that came with the form, or with an earlier try at it."""
    upload = form.cleaned_data.get("upload")
    if upload:
        return keep_upload(upload.chunks(), upload.name)
    token = form.cleaned_data.get("kept")
    return kept_upload(token) if token and not form.cleaned_data.get("path") else None


def _begin(request: HttpRequest, form: ImportForm, upload: Upload | None) -> DatasetRevision:
    values = form.cleaned_data
    path = upload.path if upload else path_below_root(values["path"])
    revision = datasets.begin_import(
        path,
        slug=values["slug"],
        user=person(request),
        name=upload.name if upload else Path(values["path"]).name,
        title=values["title"],
        licence=values["licence"],
        source=values["source"],
    )
    datasets.import_in_background(revision, path, remove=upload is not None)
    return revision
