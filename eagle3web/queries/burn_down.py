"""What a generation attempt was asked for and what it used, from its start on: budgets as steps in time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eagle3web.models import Attempt, Event, TokenBudget
from eagle3web.queries.points import milliseconds
from pipeline.events import BudgetApplied

MOST = 1_000
"""Newest edits of each kind that are read."""


@dataclass(frozen=True)
class Step:
    """From here on, one dataset has another budget."""

    at: int
    """Milliseconds since 1970."""
    dataset: str
    tokens: int | None
    """None while the dataset counts for no sum: it is switched off, or its budget is all prompts."""


def started_with(attempt_id: int) -> list[Step]:
    """The budgets that an attempt began with. One query."""
    row = Attempt.objects.filter(pk=attempt_id).values_list("created_at", "config__datasets").first()
    if row is None or not row[1]:
        return []
    plans: Sequence[dict[str, Any]] = row[1]
    return [Step(milliseconds(row[0]), str(plan["slug"]), _goal(plan.get("budget"), plan.get("enabled"))) for plan in plans]


def asked_since(attempt: Attempt, start: Sequence[Step]) -> list[Step]:
    """Edits by people since the attempt began, up to its end, of its own datasets. One query."""
    rows = TokenBudget.history.filter(
        project=attempt.run.project_id, history_date__gt=attempt.created_at, dataset__slug__in=[step.dataset for step in start]
    )
    if attempt.ended_at is not None:
        rows = rows.filter(history_date__lte=attempt.ended_at)
    newest = rows.order_by("-history_id").values_list("history_date", "dataset__slug", "tokens", "enabled")[:MOST]
    return [Step(milliseconds(at), slug, _goal(tokens, enabled)) for at, slug, tokens, enabled in reversed(list(newest))]


def used_since(attempt_id: int) -> list[Step]:
    """What the process said that it uses. One query."""
    rows = Event.objects.filter(attempt=attempt_id, kind=BudgetApplied.kind).order_by("-seq").values_list("t", "payload")
    told = [(at, payload) for at, payload in reversed(list(rows[:MOST])) if isinstance(payload.get("dataset"), str)]
    return [Step(milliseconds(at), payload["dataset"], _goal(payload.get("budget"), True)) for at, payload in told]


def _goal(tokens: object, enabled: object) -> int | None:
    return tokens if isinstance(tokens, int) and enabled else None
