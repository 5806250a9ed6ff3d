"""How what is left of a generation shrinks, beside the budgets that people asked for and those that the process used."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from eagle3web.charts.burn_down import burn_down_figure
from eagle3web.domain.clock import database_now
from eagle3web.domain.forecasts import rate_of
from eagle3web.models import Attempt, Run
from eagle3web.queries import burn_down, points, runs
from eagle3web.queries.budget_history import budget_changes
from eagle3web.queries.burn_down import Step
from eagle3web.queries.points import milliseconds
from pipeline.budget import Range

CENTURY_S = 100 * 365 * 86_400
"""An end that is further away is no forecast."""
DRAWN = 160
"""Points of the line."""
Line = list[tuple[int, float]]
"""(milliseconds, tokens)."""


@dataclass(frozen=True, kw_only=True)
class BurnDown:
    remaining: Line
    asked: Line
    """Sum of the budgets that people asked for."""
    used: Line
    """Sum of those that the process had acknowledged."""
    ends: Range | None
    """Milliseconds at which nothing is left; None without a forecast."""

    @property
    def left(self) -> float:
        return self.remaining[-1][1] if self.remaining else 0.0


def context(run: Run, attempt: Attempt, *, forecast: bool) -> dict[str, Any]:
    """About a dozen queries, so not at every turn."""
    start = burn_down.started_with(attempt.pk)
    asked = burn_down.asked_since(attempt, start)
    drawn, _total = points.points_of(attempt.pk, "tokens", up_to=points.newest_id(attempt.pk))
    progress = {row.dataset: row.tokens for row in runs.datasets_of(attempt.pk)}
    rate = rate_of(run.project).range if forecast else None
    now = database_now()
    end = attempt.ended_at or now
    found = make(
        start=start, asked=asked, used=burn_down.used_since(attempt.pk), points=drawn, progress=progress,
        end=milliseconds(end), rate=rate,
    )  # fmt: skip
    return {
        "burn_down": found,
        "burn_figure": burn_down_figure(found.remaining, found.asked, found.used, found.ends),
        "burn_rate": rate,
        "burn_ends": _moments(found.ends),
        "changes": budget_changes(run.project_id, since=attempt.created_at, until=attempt.ended_at),
    }


def make(
    *,
    start: Sequence[Step],
    asked: Sequence[Step],
    used: Sequence[Step],
    points: Iterable[tuple[str, int, float]],
    progress: Mapping[str, int],
    end: int,
    rate: Range | None,
) -> BurnDown:
    """Pure arithmetic. `points` are (dataset, milliseconds, tokens), `progress` is where each dataset stands at `end`."""
    moves = sorted([(at, dataset, value) for dataset, at, value in points if at <= end])
    tokens = {step.dataset: float(progress.get(step.dataset, 0)) for step in start}
    for _at, dataset, on_disk in reversed(moves):
        # Before its first point a dataset had what that point says: what an earlier attempt left, or next to nothing.
        tokens[dataset] = on_disk
    goals: dict[str, int | None] = {}
    remaining: Line = []
    everything: list[Step | tuple[int, str, float]] = [*start, *asked, *moves]
    for move in sorted(everything, key=_moment):
        if isinstance(move, Step):
            goals[move.dataset] = move.tokens
        else:
            tokens[move[1]] = move[2]
        remaining.append((_moment(move), _left(goals, tokens)))
    if remaining:
        tokens |= progress
        remaining.append((end, _left(goals, tokens)))
    left = remaining[-1][1] if remaining else 0.0
    return BurnDown(
        remaining=_thinned(_last_of_each_moment(remaining)),
        asked=_sums([*start, *asked], end),
        used=_sums([*start, *used], end),
        ends=_ends(left, end, rate),
    )


def _moment(move: Step | tuple[int, str, float]) -> int:
    return move.at if isinstance(move, Step) else move[0]


def _left(goals: Mapping[str, int | None], tokens: Mapping[str, float]) -> float:
    return sum(max(0.0, goal - tokens.get(dataset, 0.0)) for dataset, goal in goals.items() if goal is not None)


def _sums(steps: Iterable[Step], end: int) -> Line:
    """The sum over all datasets, at each step and at the end."""
    goals: dict[str, int | None] = {}
    found: Line = []
    for step in sorted(steps, key=lambda step: step.at):
        goals[step.dataset] = step.tokens
        found.append((step.at, float(sum(goal for goal in goals.values() if goal is not None))))
    found = _last_of_each_moment(found)
    return [*found, (max(end, found[-1][0]), found[-1][1])] if found else []


def _last_of_each_moment(line: Line) -> Line:
    return list(dict(line).items())


def _thinned(line: Line) -> Line:
    """At most DRAWN points, evenly, the last one kept."""
    every = -(-len(line) // DRAWN)
    return line if every <= 1 else [*line[:-1][::every], line[-1]]


def _ends(left: float, now: int, rate: Range | None) -> Range | None:
    if rate is None or left <= 0 or rate.low <= 0:
        return None
    if left / rate.low > CENTURY_S:
        return None
    low, likely, high = (now + 1000 * left / value for value in (rate.high, rate.likely, rate.low))
    return Range(low=low, likely=likely, high=high)


def _moments(ends: Range | None) -> Any:  # noqa: ANN401  (three moments for a template, or None)
    if ends is None:
        return None
    now = database_now()
    shift = milliseconds(now)
    return [now + timedelta(milliseconds=value - shift) for value in (ends.low, ends.likely, ends.high)]
