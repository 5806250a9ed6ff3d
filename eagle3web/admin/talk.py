"""Comments, reviews, stars and saved views: made on the pages, read here."""

from django.contrib import admin

from eagle3web.admin.readonly import LargeTableAdmin, ReadOnlyAdmin
from eagle3web.models import CheckpointReview, Comment, SavedView, Star
from eagle3web.text import visible


@admin.register(Comment)
class CommentAdmin(LargeTableAdmin):
    list_display = ("id", "run", "checkpoint", "author", "created_at", "edited_at", "removed_at")
    search_fields = ("author__username", "text")
    list_select_related = ("run", "checkpoint", "author")
    fields = ("run", "checkpoint", "author", "created_at", "edited_at", "removed_at", "text_shown")

    @admin.display(description="text")
    def text_shown(self, comment: Comment) -> str:
        return visible(comment.text)


@admin.register(CheckpointReview)
class CheckpointReviewAdmin(ReadOnlyAdmin):
    list_display = ("id", "checkpoint", "state", "author", "at")
    list_filter = ("state",)
    search_fields = ("author__username", "note")
    list_select_related = ("checkpoint", "author")


@admin.register(Star)
class StarAdmin(ReadOnlyAdmin):
    list_display = ("id", "user", "run", "at")
    search_fields = ("user__username",)
    list_select_related = ("user", "run")


@admin.register(SavedView)
class SavedViewAdmin(ReadOnlyAdmin):
    list_display = ("name", "project", "page", "owner", "shared", "query")
    list_filter = ("project", "page", "shared")
    search_fields = ("name", "owner__username")
    list_select_related = ("project", "owner")
