"""How far each dataset of a project is, from its budget and the last attempt that worked on it."""

from dataclasses import dataclass

from django.db.models import OuterRef, Q, Subquery

from eagle3web.enums import AttemptStatus, DatasetState, Stage
from eagle3web.models import DatasetProgress, TokenBudget


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One dataset in one project."""

    budget: TokenBudget
    progress: DatasetProgress | None
    """The last attempt's word on what is on disk; None before any."""
    live: bool
    """That attempt is at work."""

    @property
    def tokens(self) -> int:
        return self.progress.tokens if self.progress else 0

    @property
    def in_flight_tokens(self) -> int:
        return self.progress.in_flight_tokens if self.progress and self.live else 0

    @property
    def state(self) -> str:
        """A DatasetState, by the budget of now: one that was raised since is pending again, one that is met is not."""
        if not self.budget.enabled:
            return DatasetState.SKIPPED
        if self.progress is None:
            return DatasetState.PENDING
        if self.live:
            return self.progress.state
        if self.met:
            return DatasetState.SKIPPED if self.progress.state == DatasetState.SKIPPED else DatasetState.FINISHED
        ended = self.progress.state == DatasetState.STOPPED or self.progress.reason in ("exhausted", "max_samples")
        return self.progress.state if ended else DatasetState.PENDING

    @property
    def met(self) -> bool:
        return self.budget.tokens is not None and self.tokens >= self.budget.tokens


def standings(project_id: int) -> list[Standing]:
    """One for each budget, in the order of a run. Three queries."""
    budgets = TokenBudget.objects.filter(project=project_id).select_related("dataset").order_by("position", "id")
    # A row that is pending knows nothing yet; the attempt before may.
    rows = newest_progress(project_id, ~Q(state=DatasetState.PENDING))
    found = {row.dataset: row for row in rows}
    return [Standing(budget=budget, progress=(row := found.get(budget.dataset.slug)), live=_live(row)) for budget in budgets]


def newest_progress(project_id: int, told: Q) -> list[DatasetProgress]:
    """For each dataset with a budget the newest row of a generation for which `told` holds, with its attempt. Two queries.

    Looked up from the newest backwards, dataset by dataset: years of runs make it no slower.
    """
    rows = DatasetProgress.objects.filter(told, dataset=OuterRef("dataset__slug"))
    rows = rows.filter(attempt__run__project=project_id, attempt__run__stage=Stage.GENERATE).order_by("-pk")
    budgets = TokenBudget.objects.filter(project=project_id).annotate(newest=Subquery(rows.values("pk")[:1]))
    newest = budgets.values_list("newest", flat=True)
    found = DatasetProgress.objects.filter(pk__in=[pk for pk in newest if pk is not None])
    return list(found.select_related("attempt").defer("attempt__versions", "attempt__argv"))


def _live(progress: DatasetProgress | None) -> bool:
    return progress is not None and progress.attempt.status in AttemptStatus.LIVE
