"""The planner: what other budgets and other assumptions would take."""

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from eagle3web.domain.plan_basis import basis_of
from eagle3web.domain.planning import PlanRow, make_plan
from eagle3web.formats import count, duration, tokens
from eagle3web.models import Project
from eagle3web.pages.estimates import Span, span
from eagle3web.pages.plan_form import budget_step, read_plan, sliders
from eagle3web.pages.rights import Rights
from eagle3web.queries.budget_history import budget_changes
from eagle3web.queries.standing import Standing, standings

MET = {"exhausted": "all asked", "max_samples": "enough"}
"""Why nothing is left to ask, where that is not the budget."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One dataset of the planner."""

    plan: PlanRow
    state: str
    scale: int

    @property
    def slug(self) -> str:
        return self.plan.row.dataset

    @property
    def value(self) -> int:
        """Where the slider stands."""
        return self.scale if self.plan.wish.tokens is None else self.plan.wish.tokens

    @property
    def done_percent(self) -> str:
        return f"{min(100.0, 100 * self.plan.row.tokens / self.scale):.1f}"

    @property
    def wish(self) -> str:
        return _budget(self.plan.wish.tokens)

    @property
    def was(self) -> str:
        """What is saved, where that is something else."""
        budget = self.plan.budget
        if budget.tokens != self.plan.wish.tokens:
            return _budget(budget.tokens)
        return "" if budget.enabled == self.plan.wish.enabled else "on" if budget.enabled else "off"

    @property
    def answers(self) -> str:
        if not self.plan.wish.enabled:
            return "off"
        if self.plan.forecast.answers.high:
            return count(self.plan.forecast.answers.likely)
        return MET.get(self.plan.forecast.reason, "met")

    @property
    def hours(self) -> str:
        found = self.plan.forecast.hours
        return duration(found.likely * 3600) if found is not None and found.high else "–"

    @property
    def ends(self) -> str:
        """Why it will end before its budget is met; empty where it is met."""
        return "all prompts answered" if self.plan.forecast.reason == "exhausted" and self.plan.wish.tokens is not None else ""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One edit to save, for the question."""

    plan: PlanRow

    @property
    def old(self) -> str:
        return _written(self.plan.budget.tokens, self.plan.budget.enabled)

    @property
    def new(self) -> str:
        return _written(self.plan.wish.tokens, self.plan.wish.enabled)


def plan_context(project: Project, query: QueryDict, may: Rights) -> dict[str, Any]:
    """About twenty queries."""
    basis = basis_of(project)
    asked = read_plan(query, basis)
    plan = make_plan(basis, asked.wishes, asked.assumed)
    states = {standing.budget.pk: standing for standing in standings(project.pk)}
    lines = [Line(plan=row, state=_state(states.get(row.budget.pk)), scale=asked.scale) for row in plan.rows]
    return {
        "may": may,
        "project": project,
        "basis": basis,
        "asked": asked,
        "plan": plan,
        "lines": lines,
        "step": budget_step(asked.scale, [row.budget.tokens for row in plan.rows]),
        "sliders": sliders(asked, basis),
        "tokens": span(plan.total.tokens, tokens),
        "answers": span(plan.total.answers, count),
        "hours": _hours(plan.total.hours),
        "changes": budget_changes(project.pk, limit=4),
        "query": query.urlencode(),
    }


def changes_of(project: Project, query: QueryDict) -> list[Change]:
    """What the plan in an address would change."""
    basis = basis_of(project)
    asked = read_plan(query, basis)
    return [Change(plan=row) for row in make_plan(basis, asked.wishes, asked.assumed).changes]


def _state(standing: Standing | None) -> str:
    return standing.state if standing else "pending"


def _hours(value: Any) -> Span:  # noqa: ANN401  (a Range, or None)
    return span(value, lambda hours: duration(hours * 3600))


def _budget(value: int | None) -> str:
    return "all prompts" if value is None else tokens(value)


def _written(value: int | None, enabled: bool) -> str:
    return _budget(value) if enabled else f"{_budget(value)}, off"
