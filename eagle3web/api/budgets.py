"""Token budgets: read, change with the version that was read, history."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, Id, Out, Page, Paging, page
from eagle3web.api.errors import Conflict
from eagle3web.domain.budgets import change_budget
from eagle3web.models import TokenBudget
from eagle3web.models.project import MAX_SAMPLES, MAX_TOKENS

router = Router(tags=["budgets"])


class BudgetOut(Out):
    id: int
    project: str = Field(alias="project.slug")
    dataset: str = Field(alias="dataset.slug")
    tokens: int | None
    """Completion tokens to reach; null means all prompts."""
    max_samples: int | None
    position: int
    enabled: bool
    sampling: dict[str, Any]
    version: int
    updated_at: datetime


class BudgetFields(Body):
    tokens: int | None = Field(None, ge=0, le=MAX_TOKENS)
    max_samples: int | None = Field(None, ge=0, le=MAX_SAMPLES)
    position: int = Field(0, ge=0, le=MAX_SAMPLES)
    enabled: bool = True
    sampling: dict[str, Any] = {}


class BudgetChange(BudgetFields):
    version: int = Field(ge=1, le=MAX_SAMPLES)
    """The version that the caller read. Another one by now is a conflict, and nothing is written."""


class HistoryOut(Out):
    version: int
    tokens: int | None
    max_samples: int | None
    position: int
    enabled: bool
    sampling: dict[str, Any]
    changed_at: datetime = Field(alias="history_date")
    changed_by: str | None = Field(None, alias="history_user.username")


@router.get("/{budget_id}", auth=may("view_tokenbudget"), response=BudgetOut)
def get_budget(request: HttpRequest, budget_id: Id) -> TokenBudget:
    return get_object_or_404(TokenBudget.objects.select_related("project", "dataset"), pk=budget_id)


@router.patch("/{budget_id}", auth=may("change_tokenbudget"), response={200: BudgetOut, 409: Conflict})
def patch_budget(request: HttpRequest, budget_id: Id, fields: BudgetChange) -> TokenBudget:
    """Change a budget. A live run hears of it within a second and acknowledges the new version."""
    changes = fields.changes()
    return change_budget(budget_id, user=user_of(request), expected_version=changes.pop("version"), **changes)


@router.get("/{budget_id}/history", auth=may("view_tokenbudget"), response=Page[HistoryOut])
def budget_history(request: HttpRequest, budget_id: Id, paging: Query[Paging]) -> dict[str, Any]:
    """Every version, newest first: who, when, what."""
    rows: QuerySet[Any] = get_object_or_404(TokenBudget, pk=budget_id).history.select_related("history_user")
    return page(rows, paging)
