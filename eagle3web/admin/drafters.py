"""Checkpoints and benchmarks: written by the system, read here; a checkpoint is promoted on its page."""

from django.contrib import admin

from eagle3web.admin.readonly import LargeTableAdmin, ReadOnlyAdmin, pretty
from eagle3web.models import BenchmarkRow, Checkpoint, DraftedAnswer
from eagle3web.text import visible


@admin.register(Checkpoint)
class CheckpointAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "run", "step", "best", "review", "promoted", "bytes", "saved_at", "removed_at")
    list_filter = ("project", "review", "promoted", "best")
    search_fields = ("=run__id", "path")
    search_help_text = "Number of the run, path."
    list_select_related = ("project", "run")
    fields = (
        "project", "run", "attempt", "step", "path", "bytes", "best", "review", "promoted", "saved_at", "removed_at",
        "metrics_shown", "manifest_shown", "card_shown",
    )  # fmt: skip

    @admin.display(description="metrics")
    def metrics_shown(self, checkpoint: Checkpoint) -> str:
        return pretty(checkpoint.metrics)

    @admin.display(description="manifest")
    def manifest_shown(self, checkpoint: Checkpoint) -> str:
        return pretty(checkpoint.manifest)

    @admin.display(description="model card")
    def card_shown(self, checkpoint: Checkpoint) -> str:
        return visible(checkpoint.card)


@admin.register(BenchmarkRow)
class BenchmarkRowAdmin(LargeTableAdmin):
    list_display = (
        "attempt",
        "dataset",
        "mode",
        "shape",
        "concurrency",
        "tokens_per_s",
        "speedup",
        "accept_length",
        "checkpoint",
    )
    list_filter = ("mode",)
    search_fields = ("=attempt__run__id", "dataset")
    list_select_related = ("attempt", "checkpoint")


@admin.register(DraftedAnswer)
class DraftedAnswerAdmin(LargeTableAdmin):
    list_display = ("attempt", "dataset", "prompt_id", "mode", "shape", "tokens")
    search_fields = ("=attempt__run__id", "dataset", "prompt_id")
    list_select_related = ("attempt",)
    fields = ("attempt", "dataset", "prompt_id", "mode", "shape", "prompt_shown", "pieces_shown")

    def tokens(self, answer: DraftedAnswer) -> int:
        return len(answer.pieces)

    @admin.display(description="prompt")
    def prompt_shown(self, answer: DraftedAnswer) -> str:
        return visible(answer.prompt)

    @admin.display(description="pieces and depths")
    def pieces_shown(self, answer: DraftedAnswer) -> str:
        return pretty([list(pair) for pair in zip(answer.depths, answer.pieces, strict=False)])
