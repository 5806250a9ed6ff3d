"""Who changed which budget, from what to what."""

from dataclasses import dataclass
from datetime import datetime

from eagle3web.models import TokenBudget

LOOKED_AT = 100


@dataclass(frozen=True, kw_only=True)
class BudgetChange:
    dataset: str
    at: datetime
    who: str
    old: int | None
    new: int | None
    created: bool
    notes: tuple[str, ...]
    """Other fields that changed, in words."""
    version: int


def budget_changes(project_id: int, *, limit: int = 10) -> list[BudgetChange]:
    """The newest changes, newest first; of what the last LOOKED_AT history rows tell. One query."""
    rows = TokenBudget.history.filter(project=project_id).select_related("history_user", "dataset")
    newest = list(rows.order_by("-history_id")[:LOOKED_AT])
    found = []
    for i, row in enumerate(newest):
        before = next((old for old in newest[i + 1 :] if old.id == row.id), None)
        if before is None and row.history_type != "+":
            continue
        notes = _notes(before, row)
        if before is not None and before.tokens == row.tokens and not notes:
            continue
        found.append(
            BudgetChange(
                dataset=row.dataset.slug,
                at=row.history_date,
                who=str(row.history_user or "the system"),
                old=before.tokens if before else None,
                new=row.tokens,
                created=before is None,
                notes=notes,
                version=row.version,
            )
        )
    return found[:limit]


def _notes(before: TokenBudget | None, row: TokenBudget) -> tuple[str, ...]:
    if before is None:
        return ()
    found = []
    if before.enabled != row.enabled:
        found.append("switched on" if row.enabled else "switched off")
    if before.max_samples != row.max_samples:
        found.append(f"answers at most {row.max_samples if row.max_samples is not None else 'unlimited'}")
    if before.position != row.position:
        found.append(f"place {row.position}")
    if before.sampling != row.sampling:
        found.append("sampling")
    return tuple(found)
