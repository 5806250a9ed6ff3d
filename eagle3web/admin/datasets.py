"""Datasets and what validation found in each import."""

from django.contrib import admin
from django.http import HttpRequest

from eagle3web.admin.readonly import ReadOnlyAdmin, pretty
from eagle3web.models import Dataset, DatasetRevision


@admin.register(Dataset)
class DatasetAdmin(admin.ModelAdmin):
    """Imported on the Datasets page; here its description is edited."""

    list_display = ("slug", "title", "licence", "source", "package", "package_version", "created_at", "created_by")
    list_filter = ("licence",)
    search_fields = ("slug", "title", "source", "package")
    list_select_related = ("created_by",)
    fields = ("slug", "title", "licence", "source", "package", "package_version", "notes", "created_at", "created_by")
    readonly_fields = ("slug", "source", "package", "package_version", "created_at", "created_by")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


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
