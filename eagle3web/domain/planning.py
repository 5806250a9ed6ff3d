"""What other budgets, longer answers or more engines would take, before anything runs: measured numbers, then what-ifs."""

from collections.abc import Mapping
from dataclasses import dataclass

from eagle3web.domain.forecasts import UNSURE, ForecastRow
from eagle3web.domain.plan_basis import Assumptions, Basis, Wish
from eagle3web.models import TokenBudget
from pipeline.budget import Forecast, LengthStats, Range, Target, forecast_plan
from pipeline.budget import forecast as forecast_dataset


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    row: ForecastRow
    wish: Wish
    forecast: Forecast

    @property
    def budget(self) -> TokenBudget:
        return self.row.budget

    @property
    def changed(self) -> bool:
        return (self.wish.tokens, self.wish.enabled) != (self.budget.tokens, self.budget.enabled)


@dataclass(frozen=True, kw_only=True)
class Plan:
    rows: list[PlanRow]
    total: Forecast
    rate: Range | None
    response_bytes: float
    """Of all answers, those on disk included."""
    state_bytes: float | None
    """Of the hidden states of all answers to datasets that are switched on; None while nobody knows."""
    free: int
    stored: bool

    @property
    def budgeted(self) -> int | None:
        """Tokens of all budgets that are switched on; None where one means all prompts."""
        wanted = [row.wish.tokens for row in self.rows if row.wish.enabled]
        return None if None in wanted else sum(tokens for tokens in wanted if tokens is not None)

    @property
    def bytes(self) -> float:
        return self.response_bytes + ((self.state_bytes or 0.0) if self.stored else 0.0)

    @property
    def fits(self) -> bool:
        return self.bytes <= self.free

    @property
    def changes(self) -> list[PlanRow]:
        return [row for row in self.rows if row.changed]


def make_plan(basis: Basis, wishes: Mapping[str, Wish], assumed: Assumptions) -> Plan:
    """Pure arithmetic. Datasets without a wish keep their budgets."""
    rate = assumed_rate(basis, assumed)
    saved = basis.wishes()
    rows = [_row(row, wishes.get(row.dataset, saved[row.dataset]), assumed.length, rate) for row in basis.rows]
    tokens = sum(row.row.tokens + row.forecast.tokens.likely for row in rows)
    kept = sum(_kept_tokens(row, basis.mean_prompts) for row in rows if row.wish.enabled)
    return Plan(
        rows=rows,
        total=forecast_plan(row.forecast for row in rows),
        rate=rate,
        response_bytes=tokens * basis.answer_bytes,
        state_bytes=None if basis.state_bytes is None else kept * basis.state_bytes,
        free=basis.free,
        stored=assumed.stored,
    )


def assumed_rate(basis: Basis, assumed: Assumptions) -> Range | None:
    """Of all engines. The spread is the measured one, as a share.

    An engine is taken to be busy with as many requests as it had when its speed was measured: with fewer it is slower in
    proportion, with more it is not faster.
    """
    if not assumed.speed:
        return None
    busy = max(1.0, basis.concurrency / basis.engines)
    share = min(1.0, assumed.concurrency / (assumed.engines * busy))
    likely = assumed.speed * assumed.engines * share
    if basis.rate is None:
        return Range.around(likely, spread=UNSURE)
    measured = basis.rate
    return Range(low=likely * measured.low / measured.likely, likely=likely, high=likely * measured.high / measured.likely)


def _row(row: ForecastRow, wish: Wish, length: float, rate: Range | None) -> PlanRow:
    target = Target(tokens=wish.tokens, max_samples=row.budget.max_samples, enabled=wish.enabled, version=row.budget.version)
    lengths = LengthStats(answers=row.lengths.answers, mean=row.lengths.mean * length, deviation=row.lengths.deviation * length)
    found = forecast_dataset(target, prompts=row.prompts, lengths=lengths, answers=row.answers, tokens=row.tokens, rate=rate)
    return PlanRow(row=row, wish=wish, forecast=found)


def _kept_tokens(row: PlanRow, mean_prompts: Mapping[int, float]) -> float:
    """Tokens whose hidden states are stored: of answers and of their prompts."""
    answers = row.row.answers + row.forecast.answers.likely
    return row.row.tokens + row.forecast.tokens.likely + answers * mean_prompts.get(row.budget.dataset_id, 0.0)
