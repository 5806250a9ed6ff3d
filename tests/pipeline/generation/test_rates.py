import pytest

from pipeline.generation.rates import Rates


def test_rates_before_the_start_are_zero() -> None:
    assert Rates().per_second(100.0) == (0.0, 0.0)


def test_rates_count_from_the_start_until_a_minute_is_full() -> None:
    rates = Rates()
    rates.start(1000.0)
    for n in range(10):
        rates.add(30, 1000.0 + n)
    assert rates.per_second(1010.0) == (1.0, 30.0)
    assert rates.per_second(1060.0) == pytest.approx((10 / 60, 5.0))
    assert rates.per_second(1069.5) == (0.0, 0.0)


def test_rates_of_the_first_moment_are_not_inflated() -> None:
    rates = Rates()
    rates.start(1000.0)
    rates.add(30, 1000.01)
    assert rates.per_second(1000.02) == (1.0, 30.0)
