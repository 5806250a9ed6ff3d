"""Rules of what goes are changed on their own page, which shows what they would remove; here they are looked into."""

from django.contrib import admin

from eagle3web.admin.readonly import LargeTableAdmin, ReadOnlyAdmin
from eagle3web.models import Pruned, RetentionPolicy


@admin.register(RetentionPolicy)
class RetentionPolicyAdmin(ReadOnlyAdmin):
    list_display = ("kind", "project", "enabled", "days", "keep_last", "updated_at")
    list_filter = ("kind", "enabled")
    list_select_related = ("project",)


@admin.register(Pruned)
class PrunedAdmin(LargeTableAdmin):
    list_display = ("decided_at", "kind", "run", "attempt", "checkpoint", "host", "bytes", "removed_at", "author")
    list_filter = ("kind", "host")
    search_fields = ("=run__id",)
    search_help_text = "Number of the run."
    list_select_related = ("run", "attempt__run", "checkpoint", "author")
