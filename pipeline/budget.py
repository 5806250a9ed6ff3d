"""Token budgets: what a dataset should reach, and what that will take. Pure arithmetic, no clock and no files."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Target:
    """What one dataset should reach."""

    tokens: int | None
    """Completion tokens; None means all prompts."""
    max_samples: int | None = None
    """Answers; errors do not count."""
    enabled: bool = True
    version: int = 1

    def met_by(self, *, answers: int, tokens: int) -> str | None:
        """Why nothing more is wanted (disabled | budget_met | max_samples), or None."""
        if not self.enabled:
            return "disabled"
        if self.tokens is not None and tokens >= self.tokens:
            return "budget_met"
        if self.max_samples is not None and answers >= self.max_samples:
            return "max_samples"
        return None


@dataclass(frozen=True, kw_only=True)
class Range:
    """An estimate: about 19 of 20 outcomes should lie between `low` and `high`."""

    low: float
    likely: float
    high: float

    def __add__(self, other: "Range") -> "Range":
        return Range(low=self.low + other.low, likely=self.likely + other.likely, high=self.high + other.high)

    @classmethod
    def around(cls, likely: float, *, spread: float = 0.0) -> "Range":
        """`spread` is a share of the value: 0.1 means ± 10 %."""
        return cls(low=likely * (1 - spread), likely=likely, high=likely * (1 + spread))


@dataclass(frozen=True, kw_only=True)
class LengthStats:
    """Completion lengths of a dataset's answers, in tokens."""

    answers: int
    """Answers that the numbers come from; 0 when they are assumed."""
    mean: float
    deviation: float
    """Standard deviation of one answer's length."""

    @classmethod
    def assumed(cls, max_new_tokens: int) -> "LengthStats":
        """Before the first answer: any length up to the longest, equally likely."""
        return cls(answers=0, mean=max_new_tokens / 2, deviation=max_new_tokens / math.sqrt(12))

    @property
    def mean_range(self) -> Range:
        error = 2 * self.deviation / math.sqrt(max(1, self.answers))
        return Range(low=max(1.0, self.mean - error), likely=max(1.0, self.mean), high=max(1.0, self.mean + error))


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What is still to do until a target is met."""

    answers: Range
    tokens: Range
    """Completion tokens."""
    hours: Range | None
    """None while no rate is known."""
    reason: str
    """How it is likely to end: disabled | budget_met | max_samples | exhausted."""


def forecast(
    target: Target, *, prompts: int, lengths: LengthStats, answers: int = 0, tokens: int = 0, rate: Range | None = None
) -> Forecast:
    """Forecast for one dataset with `prompts` prompts, of which `answers` are answered with `tokens` completion tokens.

    `rate` is the completion tokens a second that this dataset gets, above 0.
    """
    left = max(0, prompts - answers)
    reason = target.met_by(answers=answers, tokens=tokens) or ("exhausted" if not left else None)
    if reason is not None:
        nothing = Range.around(0)
        return Forecast(answers=nothing, tokens=nothing, hours=nothing, reason=reason)
    limit, limit_reason = left, "exhausted"
    if target.max_samples is not None and target.max_samples - answers < left:
        limit, limit_reason = target.max_samples - answers, "max_samples"
    room = math.inf if target.tokens is None else target.tokens - tokens
    mean = lengths.mean_range
    wanted = Range(
        low=min(limit, _answers(room, mean.high, lengths.deviation, -2)),
        likely=min(limit, _answers(room, mean.likely, lengths.deviation, 0)),
        high=min(limit, _answers(room, mean.low, lengths.deviation, 2)),
    )
    total = Range(low=min(room, limit * mean.low), likely=min(room, limit * mean.likely), high=min(room, limit * mean.high))
    return Forecast(
        answers=wanted,
        tokens=total,
        hours=None if rate is None else _hours(total, rate),
        reason="budget_met" if room <= limit * mean.likely else limit_reason,
    )


def forecast_plan(forecasts: Iterable[Forecast]) -> Forecast:
    """All datasets, one after the other. Ranges are added end to end: all lucky, all unlucky."""
    plan = list(forecasts)
    hours = [forecast.hours for forecast in plan]
    nothing = Range.around(0)
    return Forecast(
        answers=sum((forecast.answers for forecast in plan), nothing),
        tokens=sum((forecast.tokens for forecast in plan), nothing),
        hours=None if None in hours else sum((part for part in hours if part is not None), nothing),
        reason=", ".join(sorted({forecast.reason for forecast in plan})),
    )


def _answers(room: float, mean: float, deviation: float, sigmas: float) -> float:
    """Answers until their lengths add up to `room`: a renewal count, whose spread is deviation/mean · √count."""
    if math.isinf(room):
        return math.inf
    count = room / mean
    return max(1.0, math.ceil(count + sigmas * deviation / mean * math.sqrt(count)))


def _hours(tokens: Range, rate: Range) -> Range:
    return Range(
        low=tokens.low / rate.high / 3600, likely=tokens.likely / rate.likely / 3600, high=tokens.high / rate.low / 3600
    )
