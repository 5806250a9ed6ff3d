"""Drafters that training saved."""

from django.db import models

from eagle3web.enums import Review


class Checkpoint(models.Model):
    """One folder, exported in SGLang's layout. The files stay on the host that trained; this is what the pages know of them."""

    project = models.ForeignKey("eagle3web.Project", on_delete=models.PROTECT, related_name="checkpoints")
    run = models.ForeignKey("eagle3web.Run", on_delete=models.CASCADE, related_name="checkpoints")
    attempt = models.ForeignKey("eagle3web.Attempt", on_delete=models.CASCADE, related_name="checkpoints")
    """Which saved it; its host has the files."""
    step = models.PositiveBigIntegerField()
    path = models.CharField(max_length=500)
    bytes = models.BigIntegerField(default=0)
    metrics = models.JSONField(default=dict)
    """eval_loss, simulated_accept_length (teacher-forced), accept_length (decoded), as the stage measured them."""
    best = models.BooleanField(default=False)
    """The best of its run, as training judges it."""
    promoted = models.BooleanField(default=False)
    """The project's choice. Changed only through domain.checkpoints."""
    review = models.CharField(max_length=10, choices=Review, blank=True)
    """What was said of it last; empty while nobody proposed it. Changed only through domain.reviews."""
    manifest = models.JSONField(default=dict)
    """The folder's manifest.json, where the supervisor could read it; long ones are cut."""
    card = models.TextField(blank=True)
    """The folder's README.md, as Markdown; long ones are cut."""
    saved_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)
    """When training deleted the folder to make room for better or newer ones."""

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(fields=["run", "path"], name="one_checkpoint_a_folder"),
            models.UniqueConstraint(fields=["project"], condition=models.Q(promoted=True), name="one_promoted_a_project"),
        ]

    def __str__(self) -> str:
        return f"r{self.run_id} step {self.step}"
