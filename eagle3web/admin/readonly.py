"""Tables that the system writes: shown, searched, never edited by hand."""

import json

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from eagle3web.text import visible


class ReadOnlyAdmin(admin.ModelAdmin):
    """No add, no change, no delete; whoever may view the table sees everything in it."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class LargeTableAdmin(ReadOnlyAdmin):
    """Millions of rows: the newest first by key, and no second count."""

    ordering = ("-pk",)
    show_full_result_count = False
    list_per_page = 50


def pretty(value: object) -> SafeString:
    """JSON over several lines, with signs for what cannot be seen."""
    return format_html("<pre>{}</pre>", visible(json.dumps(value, indent=1, ensure_ascii=False, default=str)))
