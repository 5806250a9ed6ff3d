"""What may be thrown away by its age, and what was."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Coalesce

from eagle3web.enums import Prunable

MAX_DAYS = 36_500
MAX_KEPT = 100_000


class RetentionPolicy(models.Model):
    """How long one kind of thing is kept, in one project or, without one, in all that have no rule of their own.

    Nothing is thrown away before somebody switches a policy on.
    """

    project = models.ForeignKey(
        "eagle3web.Project", on_delete=models.CASCADE, null=True, blank=True, related_name="retention_policies"
    )
    kind = models.CharField(max_length=12, choices=Prunable)
    enabled = models.BooleanField(default=False)
    days = models.PositiveIntegerField(default=90, validators=[MinValueValidator(1), MaxValueValidator(MAX_DAYS)])
    """Since the end of the attempt; since a checkpoint was saved."""
    keep_last = models.PositiveIntegerField(default=1, validators=[MaxValueValidator(MAX_KEPT)])
    """So many stay whatever their age: attempts of a run, checkpoints of a run (the best counts first), extraction runs of a
    project."""
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("project", "kind")
        verbose_name_plural = "retention policies"
        constraints = [
            # Two rows without a project would not be equal to a database.
            models.UniqueConstraint(Coalesce("project", 0), "kind", name="one_policy_a_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.project or 'all projects'}"


class Pruned(models.Model):
    """One thing that was given up. The row comes first: from then on nobody may use the thing, and its host removes it."""

    kind = models.CharField(max_length=12, choices=Prunable)
    run = models.ForeignKey("eagle3web.Run", on_delete=models.CASCADE, related_name="pruned")
    attempt = models.ForeignKey("eagle3web.Attempt", on_delete=models.CASCADE, null=True, blank=True, related_name="pruned")
    checkpoint = models.ForeignKey(
        "eagle3web.Checkpoint", on_delete=models.CASCADE, null=True, blank=True, related_name="pruned"
    )
    host = models.CharField(max_length=100, blank=True)
    """Which has the files; empty for what lies in the database alone."""
    bytes = models.BigIntegerField(default=0)
    count = models.BigIntegerField(default=0)
    """Lines, events, points, documents; 1 for a checkpoint."""
    policy = models.CharField(max_length=200)
    """The rule that it fell under, in words, as it was then."""
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    """Who asked for it; None when the system did it by itself."""
    decided_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)
    """When the last byte was gone; empty while its host has not done it."""

    class Meta:
        ordering = ("-id",)
        verbose_name = "pruned thing"
        indexes = [models.Index(fields=["host", "removed_at"])]
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "kind"], condition=models.Q(attempt__isnull=False), name="pruned_once_an_attempt"
            ),
            models.UniqueConstraint(
                fields=["checkpoint"], condition=models.Q(checkpoint__isnull=False), name="pruned_once_a_checkpoint"
            ),
            models.UniqueConstraint(
                fields=["run", "kind", "host"],
                condition=models.Q(attempt__isnull=True, checkpoint__isnull=True),
                name="pruned_once_a_run_and_host",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of r{self.run_id}"
