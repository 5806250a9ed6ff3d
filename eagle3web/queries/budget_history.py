"""Who changed which budget, from what to what, and which process took it over when."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from eagle3web.enums import AttemptStatus
from eagle3web.models import ControlMessage, TokenBudget
from pipeline.control import SetBudget

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
    told: ControlMessage | None = None
    """What was said of it to the process at work; None when no process was."""

    @property
    def took_s(self) -> float | None:
        """Until the process acknowledged it."""
        told = self.told
        return (told.acknowledged_at - told.created_at).total_seconds() if told and told.acknowledged_at else None

    @property
    def waits(self) -> bool:
        """The process at work has not said yet that it uses it."""
        told = self.told
        return told is not None and told.acknowledged_at is None and told.attempt.status in AttemptStatus.LIVE


def budget_changes(
    project_id: int, *, limit: int = 10, since: datetime | None = None, until: datetime | None = None
) -> list[BudgetChange]:
    """The newest changes, newest first; of what the last LOOKED_AT history rows tell. Two queries."""
    rows = TokenBudget.history.filter(project=project_id).select_related("history_user", "dataset")
    newest = list(rows.order_by("-history_id")[:LOOKED_AT])
    found = [
        change for change in _changes(newest) if (since is None or change.at >= since) and (until is None or change.at <= until)
    ]
    return _with_answers(project_id, found[:limit])


def _changes(newest: Sequence[Any]) -> list[BudgetChange]:
    """From history rows, newest first."""
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
    return found


def _with_answers(project_id: int, changes: Sequence[BudgetChange]) -> list[BudgetChange]:
    """The changes with what was said of each; of several processes the last one's. One query."""
    names = {change.dataset for change in changes}
    rows = ControlMessage.objects.filter(
        kind=SetBudget.kind, attempt__run__project=project_id, payload__dataset__in=names,
        payload__version__in={change.version for change in changes},
    )  # fmt: skip
    rows = rows.select_related("attempt").defer("attempt__config", "attempt__versions", "attempt__counters")
    told = {(row.payload["dataset"], row.payload["version"]): row for row in rows.order_by("pk")} if changes else {}
    return [replace(change, told=told.get((change.dataset, change.version))) for change in changes]


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
