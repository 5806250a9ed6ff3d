"""What-ifs: what other budgets and other assumptions would take. Nothing is changed."""

from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Router

from eagle3web.api.auth import may
from eagle3web.api.base import Body, Out, Slug
from eagle3web.api.projects import ForecastOut, RangeOut
from eagle3web.domain.plan_basis import Assumptions, Wish, basis_of
from eagle3web.domain.planning import Plan, make_plan
from eagle3web.models import Project
from eagle3web.models.project import MAX_TOKENS

router = Router(tags=["projects"])


class WishIn(Body):
    tokens: int | None = Field(None, ge=0, le=MAX_TOKENS)
    """Null means all prompts."""
    enabled: bool = True


class WhatIf(Body):
    """What is left out is as it was measured, or as it is saved."""

    budgets: dict[str, WishIn] = {}
    """Dataset → what it should reach."""
    speed: float | None = Field(None, gt=0, le=1e9)
    """Completion tokens a second of one engine."""
    engines: int | None = Field(None, ge=1, le=10_000)
    concurrency: int | None = Field(None, ge=1, le=10**6)
    """Requests in flight over all engines."""
    length: float = Field(1.0, ge=0.01, le=100)
    """Mean length of answers, as a multiple of the measured one."""
    stored: bool = True
    """Whether hidden states are kept on disk."""


class PlanRowOut(Out):
    dataset: str = Field(alias="row.dataset")
    tokens: int | None = Field(alias="wish.tokens")
    enabled: bool = Field(alias="wish.enabled")
    changed: bool
    """Whether this is another budget than the saved one."""
    forecast: ForecastOut


class PlanOut(Out):
    rows: list[PlanRowOut]
    total: ForecastOut
    rate: RangeOut | None
    """Completion tokens a second of all engines; null while nobody knows."""
    response_bytes: float
    state_bytes: float | None
    """Of hidden states; null while the target's config cannot be read by the web host."""
    free: int
    """Bytes on the web host's disk."""
    fits: bool


@router.post("/{slug}/plan", auth=may("view_tokenbudget", changes_nothing=True), response=PlanOut)
def plan_budgets(request: HttpRequest, slug: Slug, what_if: WhatIf) -> Plan:
    """Answers, tokens, hours and disk of a plan. Datasets without a budget in the project are passed over."""
    basis = basis_of(get_object_or_404(Project, slug=slug))
    measured = basis.assumptions()
    assumed = Assumptions(
        speed=what_if.speed or measured.speed,
        engines=what_if.engines or measured.engines,
        concurrency=what_if.concurrency or measured.concurrency,
        length=what_if.length,
        stored=what_if.stored,
    )
    wishes: dict[str, Any] = what_if.budgets
    return make_plan(basis, {slug: Wish(tokens=wish.tokens, enabled=wish.enabled) for slug, wish in wishes.items()}, assumed)
