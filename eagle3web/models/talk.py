"""What people say about runs and checkpoints, and how they want to look at them."""

from django.conf import settings
from django.db import models

from eagle3web.enums import Review


class Comment(models.Model):
    """A remark on a run or on a checkpoint, in Markdown; rendered through a sanitiser, never as it is."""

    run = models.ForeignKey("eagle3web.Run", on_delete=models.CASCADE, null=True, blank=True, related_name="comments")
    checkpoint = models.ForeignKey(
        "eagle3web.Checkpoint", on_delete=models.CASCADE, null=True, blank=True, related_name="comments"
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)
    """The text is emptied; that somebody wrote here stays."""

    class Meta:
        ordering = ("id",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(run__isnull=True) ^ models.Q(checkpoint__isnull=True), name="comment_on_one_thing"
            )
        ]

    def __str__(self) -> str:
        return f"comment {self.pk}"


class CheckpointReview(models.Model):
    """One word said about a checkpoint. The last one stands, and is kept in Checkpoint.review."""

    checkpoint = models.ForeignKey("eagle3web.Checkpoint", on_delete=models.CASCADE, related_name="reviews")
    state = models.CharField(max_length=10, choices=Review)
    note = models.TextField(blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.checkpoint}: {self.state}"


class Star(models.Model):
    """One person marks one run."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="stars")
    run = models.ForeignKey("eagle3web.Run", on_delete=models.CASCADE, related_name="stars")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "run"], name="one_star_a_person_and_run")]

    def __str__(self) -> str:
        return f"{self.user} ★ {self.run}"


class SavedView(models.Model):
    """A name for what a list's address says: filters, order, columns."""

    project = models.ForeignKey("eagle3web.Project", on_delete=models.CASCADE, related_name="views")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="views")
    name = models.CharField(max_length=80)
    page = models.CharField(max_length=20, default="runs")
    query = models.CharField(max_length=1000, blank=True)
    """The query string, without the question mark."""
    shared = models.BooleanField(default=False)
    """Whether the others of the team see it, too."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)
        constraints = [models.UniqueConstraint(fields=["project", "owner", "page", "name"], name="one_view_a_name")]

    def __str__(self) -> str:
        return self.name
