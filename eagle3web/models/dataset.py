"""Sets of prompts and their revisions."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models

from eagle3web.enums import RevisionState

SLUG = RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$", "Letters, digits, dot, dash and underscore, at most 80.")


class Dataset(models.Model):
    """A named set of prompts."""

    slug = models.CharField(max_length=80, unique=True, validators=[SLUG])
    title = models.CharField(max_length=200, blank=True)
    licence = models.CharField(max_length=100, blank=True)
    source = models.CharField(max_length=300, blank=True)
    """Where it came from: a file name, or package and version."""
    package = models.CharField(max_length=100, blank=True)
    package_version = models.CharField(max_length=50, blank=True)
    notes = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.slug


class DatasetRevision(models.Model):
    """One import: a content hash and what validation found. Never changed once ready."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="revisions")
    revision = models.CharField(max_length=64, blank=True)
    """Content hash of the normalised prompts; empty while importing."""
    state = models.CharField(max_length=10, choices=RevisionState, default=RevisionState.IMPORTING)
    error = models.TextField(blank=True)
    file_name = models.CharField(max_length=300, blank=True)
    bytes_total = models.BigIntegerField(default=0)
    bytes_done = models.BigIntegerField(default=0)
    """Progress of the import, in bytes of the source file."""
    accepted = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    warnings = models.PositiveIntegerField(default=0)
    report = models.JSONField(default=dict)
    """The first rejections and warnings, with line and reason; the whole report lies beside the prompts."""
    token_lengths = models.JSONField(default=dict)
    """Histogram of prompt lengths in tokens: {"edges": […], "counts": […], "mean": …, "max": …}."""
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "revision"], condition=models.Q(state=RevisionState.READY), name="one_ready_row_a_revision"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dataset} {self.revision[:12] or self.state}"
