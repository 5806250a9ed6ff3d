"""Buckets of tokens."""

import pytest

from eagle3web import rates
from eagle3web.rates import Rate


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("eagle3web.rates.time.monotonic", lambda: now[0])
    return now


def test_a_minutes_worth_may_come_at_once_and_then_one_at_a_time(clock: list[float]) -> None:
    rate = Rate(60)
    assert [rate.wait_s("a") for _ in range(61)] == [0.0] * 60 + [1.0]
    clock[0] += 0.5
    assert rate.wait_s("a") == pytest.approx(0.5)
    clock[0] += 0.5
    assert (rate.wait_s("a"), rate.wait_s("a")) == (0.0, 1.0)


def test_whoever_asks_for_nothing_gains_no_more_than_a_minutes_worth(clock: list[float]) -> None:
    rate = Rate(2)
    rate.wait_s("a")
    clock[0] += 3600
    assert [rate.wait_s("a") > 0 for _ in range(3)] == [False, False, True]


def test_each_key_has_its_own(clock: list[float]) -> None:
    rate = Rate(1)
    assert (rate.wait_s("a"), rate.wait_s("b"), rate.wait_s("a")) == (0.0, 0.0, 60.0)


def test_memory_is_bounded_whatever_keys_come(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MOST_KEYS", 10)
    rate = Rate(60)
    for number in range(1000):
        rate.wait_s(f"made up {number}")
        clock[0] += 0.01
    assert len(rate._buckets) <= 11
