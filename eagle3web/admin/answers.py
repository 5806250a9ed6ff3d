"""Answers as the pages know them, and what people said of them: written on the pages, read here."""

from django.contrib import admin

from eagle3web.admin.readonly import LargeTableAdmin, ReadOnlyAdmin
from eagle3web.models import Answer, AnswerFile, AnswerFlag
from eagle3web.text import visible


@admin.register(Answer)
class AnswerAdmin(LargeTableAdmin):
    list_display = ("key", "project", "dataset", "finish_reason", "prompt_tokens", "tokens", "repetition", "finished_at")
    list_filter = ("project", "finish_reason")
    search_fields = ("=key", "=dataset")
    search_help_text = "Key of the prompt, or the dataset's name, whole."
    list_select_related = ("project",)
    fields = (
        "project", "dataset", "scope", "key", "prompt_id", "prompt_shown", "text_shown", "cut", "error_shown", "finish_reason",
        "prompt_tokens", "tokens", "repetition", "language", "part", "offset", "size", "engine", "finished_at",
    )  # fmt: skip

    @admin.display(description="prompt")
    def prompt_shown(self, answer: Answer) -> str:
        return visible(answer.prompt)

    @admin.display(description="text")
    def text_shown(self, answer: Answer) -> str:
        return visible(answer.text)

    @admin.display(description="error")
    def error_shown(self, answer: Answer) -> str:
        return visible(answer.error)


@admin.register(AnswerFile)
class AnswerFileAdmin(ReadOnlyAdmin):
    list_display = ("name", "project", "dataset", "bytes_done")
    list_filter = ("project",)
    search_fields = ("dataset",)
    list_select_related = ("project",)


@admin.register(AnswerFlag)
class AnswerFlagAdmin(LargeTableAdmin):
    list_display = ("key", "project", "dataset", "state", "reason", "author", "created_at", "reviewed_by", "reviewed_at")
    list_filter = ("project", "state")
    search_fields = ("=key", "dataset", "reason")
    list_select_related = ("project", "author", "reviewed_by")
