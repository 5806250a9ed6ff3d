"""Datasets and what validation found in each import."""

from typing import Any, cast

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from eagle3web.admin.readonly import ReadOnlyAdmin, pretty
from eagle3web.domain.audit import record
from eagle3web.models import Dataset, DatasetRevision, User


@admin.register(Dataset)
class DatasetAdmin(admin.ModelAdmin):
    """Its description is edited here; "add" leads to the import."""

    list_display = ("slug", "title", "licence", "source", "package", "package_version", "created_at", "created_by")
    list_filter = ("licence",)
    search_fields = ("slug", "title", "source", "package")
    list_select_related = ("created_by",)
    fields = ("slug", "title", "licence", "source", "package", "package_version", "notes", "created_at", "created_by")
    readonly_fields = ("slug", "source", "package", "package_version", "created_at", "created_by")

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Send people to the import: a dataset without prompts is of no use, and one form for it is enough."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return redirect("dataset-import")

    def save_model(self, request: HttpRequest, obj: Dataset, form: forms.ModelForm, change: bool) -> None:
        super().save_model(request, obj, form, change)
        record(cast(User, request.user), "dataset.change", obj, slug=obj.slug, fields=form.changed_data)


@admin.register(DatasetRevision)
class RevisionAdmin(ReadOnlyAdmin):
    list_display = ("dataset", "revision", "state", "accepted", "rejected", "warnings", "file_name", "created_at", "created_by")
    list_filter = ("state", "dataset")
    search_fields = ("dataset__slug", "revision", "file_name")
    list_select_related = ("dataset", "created_by")
    fields = (
        "dataset", "revision", "state", "error", "file_name", "bytes_total", "bytes_done", "accepted", "rejected", "warnings",
        "report_shown", "token_lengths", "created_at", "created_by",
    )  # fmt: skip

    @admin.display(description="report")
    def report_shown(self, revision: DatasetRevision) -> str:
        return pretty(revision.report)
