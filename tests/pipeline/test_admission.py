import random
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.admission import OVERSHOOT, Order, Quota, by_order
from pipeline.budget import Target
from pipeline.lengths import AnswerLengths
from tests.support.simulation import SimulatedEngine, long_tailed


def quota(tokens: int | None, *, cap: int = 100, prompts: int = 1000, **target: int | bool) -> Quota:
    return Quota(Target(tokens=tokens, **target), AnswerLengths(cap), prompts=prompts)  # type: ignore[arg-type]


def admit_all(one: Quota, now: float = 0.0, limit: int = 10_000) -> int:
    """Send until nothing more is admitted; how many were."""
    for n in count():
        if n == limit or not one.admits(now):
            return n
        one.start(f"r{now}-{n}", now)
    raise AssertionError


def overshoot(one: Quota) -> float:
    """Tokens above the budget, in units of what is allowed."""
    assert one.target.tokens is not None
    return (one.lengths.tokens - one.target.tokens) / max(OVERSHOOT * one.target.tokens, one.lengths.longest)


def test_admission_without_a_budget_never_stops() -> None:
    assert admit_all(quota(None), limit=500) == 500


def test_admission_before_the_first_answer_reserves_the_longest_one() -> None:
    assert admit_all(quota(1000, cap=100)) == 10


def test_admission_of_a_met_budget_is_refused() -> None:
    one = quota(100)
    one.start("a", 0.0)
    one.finish("a", 100, 1.0)
    assert (one.admits(1.0), one.reason) == (False, "budget_met")
    one.target = Target(tokens=101)
    assert (one.admits(1.0), one.reason) == (True, None)


def test_admission_tops_up_when_answers_are_short() -> None:
    one = quota(1000, cap=100)
    assert admit_all(one) == 10
    for n in range(5):
        one.finish(f"r0.0-{n}", 10, 1.0)
    assert admit_all(one, 1.0) > 0


def test_admission_counts_answers_in_flight_as_samples() -> None:
    one = quota(None, max_samples=3)
    assert admit_all(one) == 3
    one.drop("r0.0-1")
    assert admit_all(one, 1.0) == 1


def test_admission_of_a_disabled_dataset_is_refused() -> None:
    assert not quota(None, enabled=False).admits(0.0)


def test_admission_sends_one_prompt_however_small_the_budget_is() -> None:
    assert admit_all(quota(1, cap=10_000)) == 1


def test_order_sequential_offers_the_first_dataset_first() -> None:
    assert list(by_order("sequential", [quota(10), quota(10), quota(10)])) == [0, 1, 2]


def test_order_interleaved_offers_the_dataset_that_is_furthest_behind() -> None:
    ahead, behind, open_ended = quota(1000), quota(1000), quota(None, prompts=10)
    ahead.start("a", 0.0)
    ahead.finish("a", 90, 1.0)
    behind.start("a", 0.0)
    behind.finish("a", 50, 1.0)
    open_ended.start("a", 0.0)
    assert list(by_order("interleaved", [ahead, open_ended, behind])) == [2, 0, 1]


@pytest.mark.slow
@pytest.mark.parametrize(("jitter", "crowding"), [(0.0, 0.0), (0.2, 1.0)])
def test_overshoot_over_twenty_long_tailed_datasets_stays_within_an_answer(jitter: float, crowding: float) -> None:
    rng = random.Random(11)
    quotas, lengths = [], []
    for _ in range(20):
        budget, mean, cap = rng.choice([10_000, 30_000, 100_000]), rng.uniform(80, 900), rng.choice([512, 2048, 8192])
        lengths.append(long_tailed(rng, int(8 * budget / mean) + 50, mean=mean, sigma=rng.uniform(0.6, 1.3), cap=cap))
        quotas.append(quota(budget, cap=cap, prompts=len(lengths[-1])))
    engine = SimulatedEngine(slots=32, jitter=jitter, crowding=crowding, rng=rng)
    engine.run(quotas, lengths, lambda: by_order("sequential", quotas))
    assert [one.reason for one in quotas] == ["budget_met"] * 20
    assert max(map(overshoot, quotas)) <= 1


def test_datasets_in_one_flow_take_less_time_than_one_after_the_other() -> None:
    rng = random.Random(5)
    lengths = [long_tailed(rng, 800, mean=600, sigma=1.0, cap=4096) for _ in range(6)]
    together, apart = ([quota(100_000, cap=4096) for _ in lengths] for _ in range(2))

    def first_unended() -> list[int]:
        return [next((i for i, one in enumerate(apart) if one.reason is None or one.in_flight), 0)]

    flow = SimulatedEngine(slots=32, rng=rng).run(together, lengths, lambda: by_order("sequential", together))
    barriers = SimulatedEngine(slots=32, rng=rng).run(apart, lengths, first_unended)
    assert barriers.wall_s > 1.3 * flow.wall_s
    assert barriers.idle > flow.idle


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=80),
    st.integers(1, 1000),
    st.integers(1, 16),
    st.sampled_from(["sequential", "interleaved"]),
)
def test_every_dataset_reaches_its_budget_or_its_last_prompt(lengths: list[int], budget: int, slots: int, order: Order) -> None:
    quotas = [quota(budget, cap=50, prompts=len(lengths)) for _ in range(2)]
    engine = SimulatedEngine(slots=slots, rng=random.Random(0))
    engine.run(quotas, [lengths, lengths[::-1]], lambda: by_order(order, quotas))
    for one in quotas:
        assert one.in_flight == 0
        assert one.reason == "budget_met" or one.lengths.answers == len(lengths)


@given(st.integers(1, 500), st.integers(1, 40), st.integers(1, 32))
def test_equal_lengths_overshoot_by_less_than_one_answer(budget: int, length: int, slots: int) -> None:
    one = quota(budget, cap=40)
    SimulatedEngine(slots=slots, rng=random.Random(0)).run([one], [[length] * 600], lambda: [0])
    assert 0 <= one.lengths.tokens - budget < max(length, OVERSHOOT * budget)


@given(st.lists(st.integers(1, 100), max_size=40), st.integers(1, 3000), st.integers(0, 3000), st.integers(0, 30))
def test_a_higher_budget_never_admits_less(done: list[int], budget: int, more: int, running: int) -> None:
    one = quota(budget)
    for n, length in enumerate(done):
        one.start(f"d{n}", 0.0)
        one.finish(f"d{n}", length, 1.0 + length)
    for n in range(running):
        one.start(f"r{n}", 0.5 * n)
    admitted = one.admits(60.0)
    one.target = Target(tokens=budget + more)
    assert one.admits(60.0) >= admitted
