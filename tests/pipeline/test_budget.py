import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.budget import LengthStats, Range, Target, forecast, forecast_plan

# Eight datasets of a real plan, with made-up length statistics: slug → prompts, mean completion, deviation.
PLAN = {
    "B1_glaive": (15_000, 1_122, 900),
    "B2_toolace": (6_236, 3_360, 2_900),
    "B3_code": (12_000, 2_480, 2_000),
    "B4_math": (10_000, 4_100, 3_600),
    "B5_chat": (20_000, 1_210, 900),
    "B6_instruct": (14_000, 1_390, 1_000),
    "B7_reasoning": (8_500, 5_200, 4_100),
    "B8_sweagent": (2_264, 3_900, 2_500),
}


def test_target_is_met_by_budget_samples_or_a_switch() -> None:
    target = Target(tokens=100, max_samples=5)
    assert target.met_by(answers=4, tokens=99) is None
    assert target.met_by(answers=0, tokens=100) == "budget_met"
    assert target.met_by(answers=5, tokens=0) == "max_samples"
    assert Target(tokens=100, enabled=False).met_by(answers=0, tokens=0) == "disabled"
    assert Target(tokens=None).met_by(answers=10**6, tokens=10**12) is None


def test_forecast_of_eight_datasets_of_ten_million_tokens() -> None:
    target = Target(tokens=10_000_000)
    parts = {
        slug: forecast(
            target,
            prompts=prompts,
            lengths=LengthStats(answers=200, mean=mean, deviation=deviation),
            rate=Range.around(900, spread=0.1),
        )
        for slug, (prompts, mean, deviation) in PLAN.items()
    }
    plan = forecast_plan(parts.values())
    assert sum(prompts for prompts, _, _ in PLAN.values()) == 88_000
    assert plan.answers.likely == pytest.approx(38_000, rel=0.02)
    assert plan.tokens.likely <= 80_000_000
    assert plan.tokens.likely == pytest.approx(7 * 10_000_000 + 2_264 * 3_900)
    assert plan.hours is not None
    assert plan.hours.likely == pytest.approx(plan.tokens.likely / 900 / 3600)
    assert plan.hours.low < plan.hours.likely < plan.hours.high
    assert parts["B8_sweagent"].reason == "exhausted"
    assert parts["B1_glaive"].answers.likely == math.ceil(10_000_000 / 1_122)
    assert parts["B1_glaive"].reason == "budget_met"


def test_forecast_counts_what_is_done() -> None:
    stats = LengthStats(answers=50, mean=100, deviation=0)
    rest = forecast(Target(tokens=10_000), prompts=500, answers=50, tokens=5_000, lengths=stats)
    assert rest.answers == Range.around(50)
    assert rest.tokens == Range.around(5_000)
    assert rest.hours is None


def test_forecast_ends_at_max_samples() -> None:
    stats = LengthStats(answers=50, mean=100, deviation=0)
    rest = forecast(Target(tokens=10_000, max_samples=60), prompts=500, answers=50, tokens=5_000, lengths=stats)
    assert (rest.answers.likely, rest.tokens.likely, rest.reason) == (10, 1_000, "max_samples")


@pytest.mark.parametrize(
    ("target", "reason"),
    [(Target(tokens=10), "budget_met"), (Target(tokens=None, enabled=False), "disabled"), (Target(tokens=None), "exhausted")],
)
def test_forecast_of_nothing_to_do_is_zero(target: Target, reason: str) -> None:
    rest = forecast(target, prompts=5, answers=5, tokens=10, lengths=LengthStats.assumed(100))
    assert (rest.answers, rest.tokens, rest.reason) == (Range.around(0), Range.around(0), reason)


def test_forecast_before_the_first_answer_is_a_wide_range() -> None:
    rest = forecast(Target(tokens=100_000), prompts=5_000, lengths=LengthStats.assumed(1_000))
    assert rest.answers.likely == 200
    assert rest.answers.low < 110
    assert rest.answers.high == 5_000


def test_forecast_plan_has_no_hours_while_one_dataset_has_no_rate() -> None:
    stats = LengthStats(answers=5, mean=10, deviation=1)
    known = forecast(Target(tokens=100), prompts=50, lengths=stats, rate=Range.around(10))
    unknown = forecast(Target(tokens=100), prompts=50, lengths=stats)
    assert forecast_plan([known, unknown]).hours is None


@given(
    prompts=st.integers(1, 10**6),
    budget=st.none() | st.integers(0, 10**9),
    max_samples=st.none() | st.integers(0, 10**6),
    answers=st.integers(0, 10**4),
    mean=st.floats(0.1, 1e4),
    deviation=st.floats(0, 1e5),
)
def test_forecast_ranges_are_in_order_and_within_the_prompts(
    prompts: int, budget: int | None, max_samples: int | None, answers: int, mean: float, deviation: float
) -> None:
    stats = LengthStats(answers=answers, mean=mean, deviation=deviation)
    rest = forecast(Target(tokens=budget, max_samples=max_samples), prompts=prompts, lengths=stats, rate=Range.around(5))
    assert 0 <= rest.answers.low <= rest.answers.likely <= rest.answers.high <= prompts
    assert 0 <= rest.tokens.low <= rest.tokens.likely <= rest.tokens.high
    assert budget is None or rest.tokens.high <= budget
