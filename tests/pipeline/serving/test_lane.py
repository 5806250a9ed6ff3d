"""How many requests an engine gets, from what it answered."""

import math
from typing import cast

from pipeline.config import EngineRef
from pipeline.serving.client import connect
from pipeline.serving.lane import CALM_S, LONGEST_REFUSAL_S, Lane, backoff


def lane_with(in_flight: int) -> Lane:
    return Lane(connect(EngineRef(name="a", url="http://127.0.0.1:1"), timeout_s=1), in_flight=in_flight)


def test_a_lane_takes_everything_until_it_is_refused() -> None:
    assert lane_with(10_000).has_room(0.0)


def test_a_refusal_sets_the_limit_to_what_was_accepted() -> None:
    lane = lane_with(16)
    lane.refused(1.0)
    assert (lane.limit, lane.has_room(1.0)) == (16, False)


def test_a_burst_of_refusals_ends_at_the_engines_capacity() -> None:
    lane = lane_with(40)
    for in_flight in range(39, 15, -1):
        lane.in_flight = in_flight
        lane.refused(1.0)
    assert lane.limit == 16


def test_one_round_of_answers_raises_the_limit_by_about_one() -> None:
    lane = lane_with(16)
    lane.refused(1.0)
    for _ in range(16):
        lane.answered(2.0)
    assert math.isclose(lane.limit, 17, abs_tol=0.05)


def test_an_engine_that_refuses_all_is_asked_less_and_less_often() -> None:
    lane, now, pauses = lane_with(0), 0.0, []
    for _ in range(10):
        lane.refused(now)
        pauses.append(lane.resume_at - now)
        assert not lane.has_room(now)
        now = lane.resume_at
        assert lane.has_room(now)
    assert pauses == sorted(pauses) or pauses[-1] >= LONGEST_REFUSAL_S * 0.75
    assert 0.075 <= pauses[0] <= 0.125
    assert LONGEST_REFUSAL_S * 0.75 <= pauses[-1] <= LONGEST_REFUSAL_S * 1.25


def test_a_lane_is_calm_when_nothing_waits_and_no_refusal_is_recent() -> None:
    lane = lane_with(3)
    lane.refused(0.0)
    lane.in_flight = 1
    assert [lane.is_calm(now, waiting) for now, waiting in ((1.0, 0), (CALM_S + 1, 5), (CALM_S + 1, 0))] == [False, False, True]


def test_recover_forgets_the_limit() -> None:
    lane = lane_with(3)
    lane.refused(0.0)
    lane.state = "busy"
    lane.recover(1.0)
    assert (lane.state, lane.limit, lane.last_sign) == ("ok", math.inf, 1.0)


def test_backoff_doubles_within_its_jitter_and_has_an_end() -> None:
    assert all(0.75 <= cast("float", backoff(n) / (0.1 * 2 ** (n - 1))) <= 1.25 for n in range(1, 7) for _ in range(50))
    assert backoff(1000, longest_s=3.0) <= 3.75
