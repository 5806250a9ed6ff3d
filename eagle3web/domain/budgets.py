"""Token budgets: made and changed here and nowhere else, so that every change has a version, a history row and a message."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, TypedDict, Unpack

from django.db import transaction
from django.db.models import Max

from eagle3web.domain.audit import record
from eagle3web.domain.controls import send_budget
from eagle3web.models import Dataset, Project, TokenBudget, User
from eagle3web.pokes import poke, project_topic


class BudgetChanges(TypedDict, total=False):
    """What may be changed, as in the model."""

    tokens: int | None
    max_samples: int | None
    position: int
    enabled: bool
    sampling: dict[str, Any]


CHANGEABLE = frozenset(BudgetChanges.__annotations__)


class BudgetConflict(Exception):  # noqa: N818  (an outcome that callers show, like Django's DoesNotExist)
    """Somebody else changed the budget since it was read. Nothing was written."""

    def __init__(self, theirs: TokenBudget, who: str, when: datetime) -> None:
        self.theirs = theirs
        """The budget as it stands now."""
        self.who = who
        self.when = when
        super().__init__(f"{who} changed the budget of {theirs.dataset.slug} to version {theirs.version}")


def create_budget(project: Project, dataset: Dataset, *, user: User | None, **fields: Unpack[BudgetChanges]) -> TokenBudget:
    """Give a dataset a budget in a project, last in order unless `position` says otherwise.

    Raises ValidationError, by field, also when the dataset has one already.
    """
    with transaction.atomic():
        if "position" not in fields:
            fields["position"] = (project.budgets.aggregate(last=Max("position"))["last"] or 0) + 1
        budget = TokenBudget(project=project, dataset=dataset, **fields)
        budget.full_clean()
        _save(budget, user)
        record(user, "budget.create", budget, dataset=dataset.slug, **fields)
    return budget


def change_budget(budget_id: int, *, user: User | None, expected_version: int, **changes: Unpack[BudgetChanges]) -> TokenBudget:
    """Change a budget that still has the version its editor saw.

    Consequences: the version counts up by one, a history row and an audit entry (old → new) name `user`, a live generation
    run of the project is told within a second, and pages that show the project look again. A change to what already stands
    does nothing.

    Raises BudgetConflict when the version is another one, ValidationError by field for impossible values, and
    TokenBudget.DoesNotExist.
    """
    with transaction.atomic():
        # The lock lasts until the commit (on SQLite, IMMEDIATE transactions follow one another anyway), so that of two
        # editors with the same version the second one reads the first one's.
        rows = TokenBudget.objects.select_for_update(of=("self",)).select_related("project", "dataset")
        budget = rows.get(pk=budget_id)
        if budget.version != expected_version:
            raise conflict(budget)
        moved = {name: [getattr(budget, name), value] for name, value in changes.items() if getattr(budget, name) != value}
        if not moved:
            return budget
        for name, (_old, new) in moved.items():
            setattr(budget, name, new)
        budget.version += 1
        budget.full_clean()
        _save(budget, user)
        record(user, "budget.change", budget, dataset=budget.dataset.slug, version=budget.version, changes=moved)
        send_budget(
            budget.project,
            budget.dataset.slug,
            tokens=budget.tokens,
            max_samples=budget.max_samples,
            enabled=budget.enabled,
            version=budget.version,
            user=user,
        )
    return budget


class BudgetChange(NamedTuple):
    """One edit of several that belong together."""

    budget_id: int
    expected_version: int
    changes: BudgetChanges


def change_budgets(edits: Iterable[BudgetChange], *, user: User | None) -> list[TokenBudget]:
    """Change several budgets, all or none. Consequences and errors as of `change_budget`; the first error undoes all."""
    with transaction.atomic():
        return [
            change_budget(edit.budget_id, user=user, expected_version=edit.expected_version, **edit.changes) for edit in edits
        ]


def conflict(theirs: TokenBudget) -> BudgetConflict:
    """The conflict that an editor with an older version meets: who made the newest one, and when."""
    last = theirs.history.select_related("history_user").first()
    if last is None:
        return BudgetConflict(theirs, "the system", theirs.updated_at)
    return BudgetConflict(theirs, str(last.history_user or "the system"), last.history_date)


def _save(budget: TokenBudget, user: User | None) -> None:
    """Save with a history row by `user`, and poke whoever looks at the project once it is committed."""
    budget._history_user = user  # type: ignore[attr-defined]  # where django-simple-history looks for it
    budget.save()
    transaction.on_commit(partial(poke, project_topic(budget.project_id)))
