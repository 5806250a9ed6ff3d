"""What runs are made of: from a measured speedup one can walk back to the revisions of the prompts."""

from django.db import models

from eagle3web.enums import InputKind
from eagle3web.models.run import Run


class RunInput(models.Model):
    """One input of a run: what another run makes, or prompts. The run starts when all its sources are finished."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="inputs")
    source = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, blank=True, related_name="outputs")
    """The run that makes it; empty for prompts, which are there already."""
    kind = models.CharField(max_length=10, choices=InputKind)
    ref = models.JSONField(default=dict, blank=True)
    """What is taken: dataset slug → revision hash; of a checkpoint its step, where somebody chose one."""

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=["run", "source", "kind"], name="one_input_a_source_and_kind")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.source or 'the datasets'}"
