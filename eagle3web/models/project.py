"""A project makes one drafter for one target model; its budgets say how much data each dataset should give."""

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from simple_history.models import HistoricalRecords

from eagle3web.models.dataset import SLUG, Dataset


class Project(models.Model):
    slug = models.CharField(max_length=80, unique=True, validators=[SLUG])
    name = models.CharField(max_length=200)
    target_model = models.CharField(max_length=300)
    """Name or path of the target model, as the engines serve it."""
    tokenizer = models.CharField(max_length=500)
    """Folder with the target's tokenizer.json."""
    chat_template = models.TextField(blank=True)
    """Jinja source that replaces the tokenizer's own; empty keeps that one."""
    chat_template_kwargs = models.JSONField(default=dict, blank=True)
    """Arguments of the template, such as {"enable_thinking": true}."""
    sampling = models.JSONField(default=dict, blank=True)
    """Defaults for all datasets: keys of pipeline.config.SamplingConfig."""
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.name


class TokenBudget(models.Model):
    """What one dataset should reach in one project. Changed only through domain.budgets, which counts `version` up."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="budgets")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="budgets")
    tokens = models.BigIntegerField(null=True, blank=True, validators=[MinValueValidator(0)])
    """Completion tokens to reach; empty means all prompts."""
    max_samples = models.PositiveIntegerField(null=True, blank=True)
    position = models.PositiveIntegerField(default=0)
    """Order of the datasets in a run."""
    enabled = models.BooleanField(default=True)
    sampling = models.JSONField(default=dict, blank=True)
    """What differs from the project's sampling defaults."""
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)
    history = HistoricalRecords()

    class Meta:
        ordering = ("project", "position", "id")
        constraints = [models.UniqueConstraint(fields=["project", "dataset"], name="one_budget_a_dataset")]

    def __str__(self) -> str:
        return f"{self.dataset}: {'no budget' if self.tokens is None else f'{self.tokens:,} tokens'}"
