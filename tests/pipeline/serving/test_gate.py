"""First come, first served, and no wake-up is lost."""

import asyncio

import pytest

from pipeline.config import EngineRef
from pipeline.errors import AbortedError
from pipeline.serving.client import connect
from pipeline.serving.gate import Gate
from pipeline.serving.lane import Lane


@pytest.fixture
def lanes() -> list[Lane]:
    return [Lane(connect(EngineRef(name=f"e{n}", url="http://127.0.0.1:1"), timeout_s=1)) for n in range(2)]


def fill(lanes: list[Lane]) -> None:
    for lane in lanes:
        lane.in_flight, lane.limit = 1, 1


async def waiting(gate: Gate, count: int) -> list[asyncio.Task[Lane]]:
    tasks = []
    for _ in range(count):
        tasks.append(asyncio.create_task(gate.enter()))
        await asyncio.sleep(0)
    assert gate.waiting == count
    return tasks


async def test_the_least_loaded_lane_is_taken(lanes: list[Lane]) -> None:
    lanes[0].in_flight = 2
    assert await Gate(lanes).enter() is lanes[1]


async def test_a_lane_that_is_down_is_not_taken(lanes: list[Lane]) -> None:
    lanes[0].state, lanes[1].in_flight = "down", 99
    assert await Gate(lanes).enter() is lanes[1]


async def test_the_first_waiter_goes_first_even_when_it_was_woken_in_vain(lanes: list[Lane]) -> None:
    gate = Gate(lanes)
    fill(lanes)
    first, second = await waiting(gate, 2)
    gate.wake()
    await asyncio.sleep(0)
    assert (gate.waiting, first.done()) == (2, False)
    lanes[1].in_flight = 0
    gate.wake()
    assert await first is lanes[1]
    assert not second.done()
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    assert gate.waiting == 0


async def test_a_waiter_cancelled_when_woken_wakes_the_next(lanes: list[Lane]) -> None:
    gate = Gate(lanes)
    fill(lanes)
    first, second = await waiting(gate, 2)
    lanes[0].in_flight = 0
    gate.wake()
    first.cancel()
    assert await asyncio.wait_for(second, 5) is lanes[0]


async def test_dismiss_ends_all_waiting(lanes: list[Lane]) -> None:
    gate = Gate(lanes)
    fill(lanes)
    tasks = await waiting(gate, 3)
    gate.dismiss()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [AbortedError] * 3
