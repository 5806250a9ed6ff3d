import asyncio
import io
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from pipeline.benchmark.steering import Steering
from pipeline.control import ControlReader, Pause, Resume, SetConcurrency, Stop, encode

DEADLINE_S = 5.0


@asynccontextmanager
async def steered(*messages: bytes) -> AsyncIterator[tuple[Steering, list[bool], list[str]]]:
    """Messages from a supervisor that goes away behind the last one; what was told of pauses; warnings."""
    pauses: list[bool] = []
    warnings: list[str] = []
    control = ControlReader(io.BytesIO(b"".join(messages)) if messages else None)
    steering = Steering(control, on_pause=pauses.append, warn=warnings.append)
    following = asyncio.ensure_future(steering.follow())
    try:
        yield steering, pauses, warnings
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not condition():
            await asyncio.sleep(0.01)


async def test_stop_says_who_asked_first() -> None:
    async with steered(encode(Stop(reason="stopped by ada")), encode(Stop(reason="stopped by bob"))) as (
        steering,
        _,
        _warnings,
    ):
        await until(steering.stopping.is_set)
        assert steering.stop_reason == "stopped by ada"
        assert not await steering.may_go_on()


async def test_pause_holds_and_a_stop_ends_it() -> None:
    async with steered(encode(Pause()), encode(Resume()), encode(Pause())) as (steering, pauses, _warnings):
        # The end of the input means that the supervisor is gone.
        async with asyncio.timeout(DEADLINE_S):
            while not steering.stopping.is_set():
                await asyncio.sleep(0.01)
        assert pauses == [True, False, True]
        assert steering.stop_reason == "the supervisor is gone"
        assert not await steering.may_go_on()


async def test_broken_message_is_told_and_another_stages_wish_changes_nothing() -> None:
    async with steered(b"nonsense\n", encode(SetConcurrency(n=3))) as (steering, pauses, warnings):
        await until(steering.stopping.is_set)
        assert len(warnings) == 1
        assert warnings[0].startswith("not a control message: ")
        assert pauses == []


async def test_work_ends_before_a_stop_or_is_cancelled_by_it() -> None:
    async with steered() as (steering, _, _warnings):
        assert await steering.may_go_on()
        assert await steering.unless_stopped(asyncio.ensure_future(asyncio.sleep(0)))
        asyncio.get_running_loop().call_later(0.02, steering.stop, "stopped")
        endless = asyncio.ensure_future(asyncio.sleep(60))
        assert not await steering.unless_stopped(endless)
        assert endless.cancelled()


async def test_failure_of_the_work_is_not_hidden() -> None:
    async def fail() -> None:
        raise ValueError("broken")

    async with steered() as (steering, _, _warnings):
        with pytest.raises(ValueError, match="broken"):
            await steering.unless_stopped(asyncio.ensure_future(fail()))
