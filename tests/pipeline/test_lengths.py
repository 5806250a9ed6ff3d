import random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.lengths import AnswerLengths
from tests.support.simulation import long_tailed


def lengths_of(*tokens: int, cap: int = 1000) -> AnswerLengths:
    lengths = AnswerLengths(cap)
    for length in tokens:
        lengths.add(length)
    return lengths


def test_lengths_count_answers_tokens_and_the_longest() -> None:
    lengths = lengths_of(10, 30, 20)
    assert (lengths.answers, lengths.tokens, lengths.longest, lengths.mean) == (3, 60, 30, 20)
    assert lengths.deviation == pytest.approx((200 / 3) ** 0.5)


def test_lengths_without_answers_expect_the_worst() -> None:
    outlook = AnswerLengths(1000).outlook([0.0, 0.0])
    assert (outlook.fresh, outlook.running, outlook.running_variance) == (1000, 2000, 0)
    assert (AnswerLengths(1000).mean, AnswerLengths(1000).deviation) == (0, 0)


def test_lengths_of_many_equal_answers_are_expected_again() -> None:
    outlook = lengths_of(*[200] * 999).outlook([])
    assert outlook.fresh == pytest.approx((999 * 200 + 1000) / 1000)
    assert outlook.running == 0


def test_lengths_expect_an_old_answer_to_end_long() -> None:
    lengths = lengths_of(*[100] * 90, *[800] * 10)
    young, old = lengths.outlook([0.0]), lengths.outlook([400.0])
    assert young.running < 200
    assert old.running > 800


def test_lengths_are_not_misled_by_the_short_answers_that_finish_first() -> None:
    rng = random.Random(7)
    drawn = long_tailed(rng, 400, mean=600, sigma=1.2, cap=8192)
    # All were sent at once; those above 500 tokens still run.
    lengths = lengths_of(*[length for length in drawn if length < 500], cap=8192)
    assert lengths.mean < 0.5 * mean(drawn)
    outlook = lengths.outlook([500.0] * sum(length >= 500 for length in drawn))
    assert outlook.fresh > mean(drawn)


def test_lengths_in_a_steady_flow_are_estimated_without_bias() -> None:
    rng = random.Random(3)
    lengths, running, everything = AnswerLengths(8192), [], long_tailed(rng, 8000, mean=600, sigma=1.0, cap=8192)
    for i, length in enumerate(everything):
        # One answer starts with each token that a slot writes; the last one starts now.
        age = len(everything) - i
        if length <= age:
            lengths.add(length)
        else:
            running.append((age, length))
    outlook = lengths.outlook([float(age) for age, _ in running])
    truth = sum(length for _, length in running)
    assert outlook.running == pytest.approx(truth, rel=0.1)
    assert lengths.mean * len(running) < 0.6 * truth


@given(
    finished=st.lists(st.integers(0, 5000), max_size=60),
    reaches=st.lists(st.floats(0, 1e6), max_size=60),
    cap=st.integers(1, 5000),
)
def test_lengths_outlook_stays_within_what_is_possible(finished: list[int], reaches: list[float], cap: int) -> None:
    outlook = lengths_of(*[min(length, cap) for length in finished], cap=cap).outlook(reaches)
    slack = 1e-6 * cap
    assert -slack <= outlook.fresh <= cap + slack
    assert -slack <= outlook.running <= (cap + slack) * len(reaches)
    assert 0 <= outlook.running_variance <= (cap + slack) ** 2 * max(1, len(reaches))


def test_lengths_are_counted_by_bin_without_the_empty_end() -> None:
    lengths = lengths_of(0, 1, 5, cap=255)
    assert (lengths.width, lengths.counts) == (2, [2, 0, 1])
    assert lengths_of(cap=255).counts == []
