"""Projects, their budgets, and what a plan will need."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Status

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, HostTag, Out, Page, Paging, Slug, Text, page
from eagle3web.api.budgets import BudgetFields, BudgetOut
from eagle3web.domain.budgets import create_budget
from eagle3web.domain.forecasts import ProjectForecast, forecast
from eagle3web.domain.projects import change_project, create_project
from eagle3web.models import Dataset, Project, TokenBudget
from eagle3web.models.tags import MOST

router = Router(tags=["projects"])


class ProjectOut(Out):
    slug: str
    name: str
    target_model: str
    tokenizer: str
    target_path: str
    allow_remote_code: bool
    """Whether Python in the target's folder may run on the hosts; changed in the admin, with a permission of its own."""
    chat_template: str
    chat_template_kwargs: dict[str, Any]
    sampling: dict[str, Any]
    host_tags: list[str]
    created_at: datetime


class ProjectFields(Body):
    name: Text
    target_model: Text
    tokenizer: Text
    target_path: Text = ""
    """Folder of the target as transformers loads it, on the hosts that extract, train and measure."""
    chat_template: Text = ""
    chat_template_kwargs: dict[str, Any] = {}
    sampling: dict[str, Any] = {}
    host_tags: list[HostTag] = Field([], max_length=MOST)
    """Tags of the hosts that its runs ask for, unless a run says otherwise."""


class NewProject(ProjectFields):
    slug: Slug


class ProjectChanges(Body):
    name: Text = ""
    target_model: Text = ""
    tokenizer: Text = ""
    target_path: Text = ""
    chat_template: Text = ""
    chat_template_kwargs: dict[str, Any] = {}
    sampling: dict[str, Any] = {}
    host_tags: list[HostTag] = Field([], max_length=MOST)


class RangeOut(Out):
    """An estimate: about 19 of 20 outcomes should lie between `low` and `high`."""

    low: float
    likely: float
    high: float


class ForecastOut(Out):
    """What is still to do."""

    answers: RangeOut
    tokens: RangeOut
    hours: RangeOut | None
    """Null while no rate is known."""
    reason: str
    """How it is likely to end: disabled, budget_met, max_samples, exhausted."""


class ForecastRowOut(Out):
    dataset: str
    prompts: int
    answers: int
    """On disk already."""
    tokens: int
    """On disk already."""
    mean_length: float = Field(alias="lengths.mean")
    lengths_from: str
    """Where the lengths of answers are from, in words."""
    forecast: ForecastOut


class ProjectForecastOut(Out):
    rows: list[ForecastRowOut]
    total: ForecastOut
    """All datasets, one after the other."""
    rate: RangeOut | None
    """Completion tokens a second."""
    rate_from: str
    """Where the rate is from, in words."""


class NewBudget(BudgetFields):
    dataset: Slug


@router.get("", auth=may("view_project"), response=Page[ProjectOut])
def list_projects(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    return page(Project.objects.all(), paging)


@router.post("", auth=may("add_project"), response={201: ProjectOut})
def add_project(request: HttpRequest, fields: NewProject) -> Status[Project]:
    values = fields.model_dump()
    return Status(201, create_project(values.pop("slug"), user=user_of(request), **values))


@router.get("/{slug}", auth=may("view_project"), response=ProjectOut)
def get_project(request: HttpRequest, slug: Slug) -> Project:
    return get_object_or_404(Project, slug=slug)


@router.patch("/{slug}", auth=may("change_project"), response=ProjectOut)
def patch_project(request: HttpRequest, slug: Slug, fields: ProjectChanges) -> Project:
    """Change what future runs start with; runs that exist keep their configs."""
    return change_project(get_object_or_404(Project, slug=slug), user=user_of(request), **fields.changes())


@router.get("/{slug}/budgets", auth=may("view_tokenbudget"), response=Page[BudgetOut])
def list_budgets(request: HttpRequest, slug: Slug, paging: Query[Paging]) -> dict[str, Any]:
    project = get_object_or_404(Project, slug=slug)
    return page(project.budgets.select_related("project", "dataset"), paging)


@router.post("/{slug}/budgets", auth=may("add_tokenbudget"), response={201: BudgetOut})
def add_budget(request: HttpRequest, slug: Slug, fields: NewBudget) -> Status[TokenBudget]:
    project = get_object_or_404(Project, slug=slug)
    changes = fields.changes()
    dataset = get_object_or_404(Dataset, slug=changes.pop("dataset"))
    return Status(201, create_budget(project, dataset, user=user_of(request), **changes))


@router.get("/{slug}/forecast", auth=may("view_tokenbudget"), response=ProjectForecastOut)
def get_forecast(request: HttpRequest, slug: Slug) -> ProjectForecast:
    """Answers, tokens and hours that the budgets still need, as ranges."""
    return forecast(get_object_or_404(Project, slug=slug))
