"""A project makes one drafter for one target model; its budgets say how much data each dataset should give."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from simple_history.models import HistoricalRecords

from eagle3web.models.dataset import SLUG, Dataset
from eagle3web.models.sampling import validate_object, validate_sampling
from eagle3web.models.tags import validate_tags

MAX_TOKENS = 10**15
MAX_SAMPLES = 2**31 - 1


class Project(models.Model):
    slug = models.CharField(max_length=80, unique=True, validators=[SLUG])
    name = models.CharField(max_length=200)
    target_model = models.CharField(max_length=300)
    """Name or path of the target model, as the engines serve it."""
    tokenizer = models.CharField(max_length=500)
    """Folder with the target's tokenizer.json."""
    target_path = models.CharField(max_length=500, blank=True)
    """Folder of the target as transformers loads it, on the hosts that extract, train and measure."""
    chat_template = models.TextField(blank=True)
    """Jinja source that replaces the tokenizer's own; empty keeps that one."""
    chat_template_kwargs = models.JSONField(default=dict, blank=True, validators=[validate_object])
    """Arguments of the template, such as {"enable_thinking": true}."""
    sampling = models.JSONField(default=dict, blank=True, validators=[validate_sampling])
    """Defaults for all datasets: keys of pipeline.config.SamplingConfig."""
    host_tags = models.JSONField(default=list, blank=True, validators=[validate_tags])
    """Tags of the hosts that its runs ask for, unless a run says otherwise."""
    allow_remote_code = models.BooleanField(default=False)
    """Whether the target's folder may bring Python code that runs on the hosts; only for code that somebody has read."""
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ("slug",)
        permissions = [("allow_remote_code", "Can let the target model of a project bring code of its own")]

    def __str__(self) -> str:
        return self.name


class TokenBudget(models.Model):
    """What one dataset should reach in one project. Changed only through domain.budgets, which counts `version` up."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="budgets")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="budgets")
    tokens = models.BigIntegerField(null=True, blank=True, validators=[MinValueValidator(0), MaxValueValidator(MAX_TOKENS)])
    """Completion tokens to reach; empty means all prompts."""
    max_samples = models.PositiveIntegerField(null=True, blank=True, validators=[MaxValueValidator(MAX_SAMPLES)])
    position = models.PositiveIntegerField(default=0, validators=[MaxValueValidator(MAX_SAMPLES)])
    """Order of the datasets in a run."""
    enabled = models.BooleanField(default=True)
    sampling = models.JSONField(default=dict, blank=True, validators=[validate_sampling])
    """What differs from the project's sampling defaults."""
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)
    history = HistoricalRecords()

    class Meta:
        ordering = ("project", "position", "id")
        constraints = [models.UniqueConstraint(fields=["project", "dataset"], name="one_budget_a_dataset")]

    def __str__(self) -> str:
        return f"{self.dataset}: {'no budget' if self.tokens is None else f'{self.tokens:,} tokens'}"
