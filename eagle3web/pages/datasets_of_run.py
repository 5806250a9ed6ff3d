"""The table with one row for each dataset of an attempt, and the numbers over all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from eagle3web.enums import DatasetState
from eagle3web.formats import of, tokens
from eagle3web.models import DatasetProgress, TokenBudget
from eagle3web.pages import words

SOLID = frozenset({DatasetState.RUNNING, DatasetState.FINISHED, DatasetState.STOPPED})


@dataclass(frozen=True, kw_only=True)
class DatasetRow:
    progress: DatasetProgress
    scale: float
    """Tokens at the right end of the bars; the same in all rows."""
    asked_version: int | None
    """The version that people want; None where the dataset has no budget in the project any more."""
    forecast: bool
    """Whether an ETA may be shown: not while nothing is heard."""

    @property
    def done(self) -> str:
        return of(self.progress.tokens, self.progress.budget)[0]

    @property
    def goal(self) -> str:
        if self.progress.budget is None:
            return words.goal(None, self.progress.max_samples)
        return of(self.progress.tokens, self.progress.budget)[1]

    @property
    def label(self) -> str:
        """The bar, in words."""
        row = self.progress
        over = f", {tokens(row.tokens - row.budget)} over" if row.budget is not None and row.tokens > row.budget else ""
        flying = f", {tokens(row.in_flight_tokens)} in flight" if row.in_flight_tokens else ""
        return f"{self.done} of {self.goal}{over}{flying}"

    @property
    def why(self) -> str:
        """Why a dataset is skipped or has ended; its numbers stand beside it."""
        return words.REASONS.get(self.progress.reason, self.progress.reason)

    @property
    def state_words(self) -> str:
        return (
            "off" if self.progress.state == DatasetState.SKIPPED and self.progress.reason == "disabled" else self.progress.state
        )

    @property
    def truncated_share(self) -> float | None:
        return self.progress.truncated / self.progress.done if self.progress.done else None

    @property
    def mean(self) -> float | None:
        return self.progress.mean_completion or None

    @property
    def running(self) -> bool:
        return self.progress.state == DatasetState.RUNNING

    @property
    def eta_s(self) -> float | None:
        return self.progress.eta_s if self.forecast and self.running else None

    @property
    def waits(self) -> bool:
        """A newer version is asked for than the process uses."""
        return self.asked_version is not None and self.asked_version != self.progress.budget_version


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Over all datasets of an attempt."""

    tokens: int
    """Towards budgets: what lies above one is not counted."""
    budget: int
    over: int
    in_flight: int
    in_flight_tokens: int
    tokens_per_s: float
    errors: int
    answers: int
    eta_s: float | None
    open: int
    """Datasets that are neither ended nor skipped."""

    @property
    def share(self) -> float | None:
        return self.tokens / self.budget if self.budget else None

    @property
    def on_disk(self) -> int:
        """All completion tokens, what lies above a budget too."""
        return self.tokens + self.over

    @property
    def words(self) -> str:
        return f"{self.amount} tokens"

    @property
    def amount(self) -> str:
        """Done and wanted, where a column says that these are tokens."""
        return " of ".join(of(self.tokens, self.budget)) if self.budget else tokens(self.tokens)


def dataset_rows(progress: Sequence[DatasetProgress], asked: Mapping[str, TokenBudget], *, forecast: bool) -> list[DatasetRow]:
    scale = max((max(row.tokens + row.in_flight_tokens, row.budget or 0) for row in progress), default=0) * 1.04
    return [
        DatasetRow(
            progress=row,
            scale=scale,
            asked_version=asked[row.dataset].version if row.dataset in asked else None,
            forecast=forecast,
        )
        for row in progress
    ]


def totals(progress: Sequence[DatasetProgress], *, forecast: bool) -> Totals:
    opened = [row for row in progress if row.state in (DatasetState.RUNNING, DatasetState.PENDING)]
    rate = sum(row.tokens_per_s for row in progress)
    left = [_left(row) for row in opened]
    return Totals(
        tokens=sum(row.tokens if row.budget is None else min(row.tokens, row.budget) for row in progress),
        budget=sum(row.budget or 0 for row in progress if row.reason != "disabled"),
        over=sum(max(0, row.tokens - row.budget) for row in progress if row.budget is not None),
        in_flight=sum(row.in_flight for row in progress),
        in_flight_tokens=sum(row.in_flight_tokens for row in progress),
        tokens_per_s=rate,
        errors=sum(row.errors for row in progress),
        answers=sum(row.done for row in progress),
        eta_s=sum(left) / rate if forecast and rate and any(left) and inf not in left else None,
        open=len(opened),
    )


def _left(row: DatasetProgress) -> float:
    """Completion tokens until the budget is met or no prompt is left, as the project's forecast expects them; may be inf."""
    room = inf if row.budget is None else row.budget - row.tokens
    answers = row.total if row.max_samples is None else min(row.total, row.max_samples)
    ahead = (answers - row.done) * row.tokens / row.done if row.done and row.total else inf
    return max(0, min(room, ahead))
