"""Datasets: list, import, and what validation found."""

from datetime import datetime
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.db.models import Q
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Status

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, Id, Out, Page, Paging, Slug, Text, page
from eagle3web.domain.datasets import begin_import, import_in_background
from eagle3web.domain.import_files import ImportRefused, path_below_root
from eagle3web.models import Dataset, DatasetRevision

router = Router(tags=["datasets"])


class DatasetOut(Out):
    slug: str
    title: str
    licence: str
    source: str
    package: str
    package_version: str
    notes: str
    created_at: datetime


class RevisionOut(Out):
    id: int
    dataset: str = Field(alias="dataset.slug")
    revision: str
    """Content hash of the normalised prompts; empty while importing."""
    state: str
    error: str
    file_name: str
    bytes_total: int
    bytes_done: int
    accepted: int
    rejected: int
    warnings: int
    created_at: datetime


class Report(RevisionOut):
    report: dict[str, Any]
    """The first rejections and warnings, each with file, line, id and reason."""
    token_lengths: dict[str, Any]
    """Histogram of prompt lengths in tokens."""


class NewImport(Body):
    slug: Slug
    path: Annotated[Text, Field(min_length=1, max_length=1000)]
    """Of a file below the import root of the web host."""
    title: Annotated[Text, Field(max_length=200)] = ""
    licence: Annotated[Text, Field(max_length=100)] = ""
    source: Annotated[Text, Field(max_length=300)] = ""
    notes: Annotated[Text, Field(max_length=10_000)] = ""


class DatasetFilter(Paging):
    q: Text = Field("", max_length=200)
    """Part of the slug or the title."""


@router.get("", auth=may("view_dataset"), response=Page[DatasetOut])
def list_datasets(request: HttpRequest, query: Query[DatasetFilter]) -> dict[str, Any]:
    rows = Dataset.objects.all()
    if query.q:
        rows = rows.filter(Q(slug__icontains=query.q) | Q(title__icontains=query.q))
    return page(rows, query)


@router.post("/import", auth=may("add_dataset"), response={202: RevisionOut})
def import_dataset(request: HttpRequest, fields: NewImport) -> Status[DatasetRevision]:
    """Begin to import a file; the revision's state goes from `importing` to `ready` or `failed`."""
    values = fields.model_dump()
    try:
        path = path_below_root(values.pop("path"))
        revision = begin_import(path, user=user_of(request), **values)
    except ImportRefused as error:
        raise ValidationError({"path": str(error)}) from error
    except OSError as error:
        raise ValidationError({"path": f"The file cannot be read: {error.strerror}."}) from error
    import_in_background(revision, path, remove=False)
    return Status(202, revision)


@router.get("/{slug}", auth=may("view_dataset"), response=DatasetOut)
def get_dataset(request: HttpRequest, slug: Slug) -> Dataset:
    return get_object_or_404(Dataset, slug=slug)


@router.get("/{slug}/revisions", auth=may("view_datasetrevision"), response=Page[RevisionOut])
def list_revisions(request: HttpRequest, slug: Slug, paging: Query[Paging]) -> dict[str, Any]:
    """Newest first."""
    dataset = get_object_or_404(Dataset, slug=slug)
    return page(dataset.revisions.select_related("dataset").defer("report", "token_lengths"), paging)


@router.get("/{slug}/revisions/{revision_id}", auth=may("view_datasetrevision"), response=Report)
def get_report(request: HttpRequest, slug: Slug, revision_id: Id) -> DatasetRevision:
    """One import with its validation report."""
    return get_object_or_404(DatasetRevision.objects.select_related("dataset"), pk=revision_id, dataset__slug=slug)
