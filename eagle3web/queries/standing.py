"""How far each dataset of a project is, from its budget and the last attempt that worked on it."""

from dataclasses import dataclass

from django.db.models import Max

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
    told = DatasetProgress.objects.filter(attempt__run__project=project_id, attempt__run__stage=Stage.GENERATE)
    # A row that is pending knows nothing yet; the attempt before may.
    last = told.exclude(state=DatasetState.PENDING).values("dataset").annotate(last=Max("attempt_id"))
    newest = {row["dataset"]: row["last"] for row in last}
    rows = told.filter(attempt__in=set(newest.values())).select_related("attempt")
    found = {row.dataset: row for row in rows if newest.get(row.dataset) == row.attempt_id}
    return [Standing(budget=budget, progress=(row := found.get(budget.dataset.slug)), live=_live(row)) for budget in budgets]


def _live(progress: DatasetProgress | None) -> bool:
    return progress is not None and progress.attempt.status in AttemptStatus.LIVE
