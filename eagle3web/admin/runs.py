"""Runs and everything that attempts said: written by the system, read here."""

from django.contrib import admin

from eagle3web.admin.readonly import LargeTableAdmin, ReadOnlyAdmin, pretty
from eagle3web.models import (
    Attempt,
    ControlMessage,
    DatasetProgress,
    Event,
    LogChunk,
    MetricPoint,
    Run,
    RunInput,
    Transition,
)
from eagle3web.text import visible

BY_RUN = "Number of the run."


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ("id", "title", "project", "stage", "status", "paused", "author", "created_at")
    list_filter = ("status", "stage", "project", "created_at")
    search_fields = ("=id", "title", "config_hash", "author__username")
    list_select_related = ("project", "author")
    date_hierarchy = "created_at"


@admin.register(RunInput)
class RunInputAdmin(ReadOnlyAdmin):
    list_display = ("run", "kind", "source")
    list_filter = ("kind",)
    search_fields = ("=run__id", "=source__id")
    search_help_text = BY_RUN
    list_select_related = ("run", "source")


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = ("run", "number", "status", "reason_shown", "host", "pid", "started_at", "ended_at", "heartbeat_at")
    list_filter = ("status", "host", "started_at")
    search_fields = ("=run__id", "host", "reason")
    search_help_text = "Number of the run, host, reason."
    list_select_related = ("run",)
    ordering = ("-pk",)

    @admin.display(description="reason")
    def reason_shown(self, attempt: Attempt) -> str:
        return visible(attempt.reason)


@admin.register(Transition)
class TransitionAdmin(LargeTableAdmin):
    list_display = ("at", "run", "attempt", "old", "new", "reason", "author")
    list_filter = ("new", "at")
    search_fields = ("=run__id", "reason", "author__username")
    list_select_related = ("run", "attempt", "author")


@admin.register(ControlMessage)
class ControlMessageAdmin(LargeTableAdmin):
    list_display = ("created_at", "attempt", "kind", "payload", "author", "delivered_at", "acknowledged_at")
    list_filter = ("kind",)
    search_fields = ("=attempt__run__id",)
    search_help_text = BY_RUN
    list_select_related = ("attempt", "author")


@admin.register(DatasetProgress)
class DatasetProgressAdmin(LargeTableAdmin):
    list_display = ("attempt", "dataset", "state", "reason", "tokens", "budget", "budget_version", "done", "total", "errors")
    list_filter = ("state", "reason")
    search_fields = ("=attempt__run__id", "dataset")
    list_select_related = ("attempt",)


@admin.register(Event)
class EventAdmin(LargeTableAdmin):
    list_display = ("attempt", "seq", "t", "kind")
    search_fields = ("=attempt__run__id",)
    search_help_text = BY_RUN
    list_select_related = ("attempt",)
    fields = ("attempt", "seq", "t", "kind", "payload_shown")

    @admin.display(description="payload")
    def payload_shown(self, event: Event) -> str:
        return pretty(event.payload)


@admin.register(MetricPoint)
class MetricPointAdmin(LargeTableAdmin):
    list_display = ("attempt", "name", "series", "t", "step", "value")
    search_fields = ("=attempt__run__id",)
    search_help_text = BY_RUN
    list_select_related = ("attempt",)


@admin.register(LogChunk)
class LogChunkAdmin(LargeTableAdmin):
    list_display = ("attempt", "offset", "first_line", "size")
    search_fields = ("=attempt__run__id",)
    search_help_text = BY_RUN
    list_select_related = ("attempt",)
    fields = ("attempt", "offset", "first_line", "text")

    @admin.display(description="bytes")
    def size(self, chunk: LogChunk) -> int:
        return len(chunk.data)

    def text(self, chunk: LogChunk) -> str:
        return visible(bytes(chunk.data).decode(errors="backslashreplace"))
