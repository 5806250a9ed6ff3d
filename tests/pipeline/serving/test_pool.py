"""The pool against real servers that fail in all the ways that engines fail."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from pipeline.config import EngineRef, SamplingConfig
from pipeline.errors import AbortedError, BadRequestError, EngineUnavailableError
from pipeline.events import EngineChanged
from pipeline.serving.client import Answer, connect
from pipeline.serving.keeper import KeeperSettings
from pipeline.serving.pool import EnginePool, PoolSettings
from tests.support.servers import stub_engine, stub_process
from tests.support.stub_engine import Behaviour, answer_for

SAMPLING = SamplingConfig(max_new_tokens=16)
QUICK = PoolSettings(keeper=KeeperSettings(quiet_s=0.4, longest_backoff_s=0.5))

Results = list[tuple[Answer, str]]


class Changes(list[EngineChanged]):
    """What the pool told."""

    def __call__(self, change: EngineChanged) -> None:
        self.append(change)

    def states(self, engine: str = "e0") -> list[str]:
        return [change.state for change in self if change.engine == engine]


@asynccontextmanager
async def pool_of(
    *urls: str, changes: Changes, settings: PoolSettings = QUICK, timeout_s: float = 20.0
) -> AsyncIterator[EnginePool]:
    refs = (EngineRef(name=f"e{i}", url=url) for i, url in enumerate(urls))
    clients = [connect(ref, timeout_s=timeout_s, probe_timeout_s=0.5) for ref in refs]
    pool = EnginePool(clients, on_change=changes, settings=settings)
    try:
        yield pool
    finally:
        await pool.close()


async def ask(pool: EnginePool, count: int) -> Results:
    return list(await asyncio.gather(*(pool.generate((1, n), SAMPLING, rid=f"r{n}", seed=n) for n in range(count))))


def assert_exact(results: Results) -> None:
    """Every request has its own answer, whichever engine gave it."""
    expected = [answer_for((1, n), seed=n, max_new_tokens=16).ids for n in range(len(results))]
    assert [answer.output_ids for answer, _ in results] == expected


async def until(condition: Callable[[], bool], what: str) -> None:
    try:
        async with asyncio.timeout(15):
            while not condition():
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"waited in vain until {what}") from None


async def test_requests_go_to_the_least_loaded_engine() -> None:
    changes = Changes()
    with stub_engine(Behaviour(latency_s=0.05)) as (_, fast), stub_engine(Behaviour(latency_s=0.5)) as (slow, slow_url):
        async with pool_of(fast, slow_url, changes=changes, settings=PoolSettings()) as pool:
            workers = [pool.generate((1, n), SAMPLING, rid=str(n), seed=n) for n in range(40)]
            results = await bounded(workers, at_once=4)
    shares = Counter(engine for _, engine in results)
    assert shares["e0"] > 3 * shares["e1"]
    assert slow.peak_in_flight == 2
    assert changes == []


async def test_a_dead_engine_is_drained_and_its_requests_go_elsewhere() -> None:
    changes = Changes()
    with stub_process(Behaviour(latency_s=0.3)) as (process, dying), stub_engine(Behaviour(latency_s=0.05)) as (_, url):
        async with pool_of(dying, url, changes=changes) as pool:
            asked = asyncio.create_task(ask(pool, 20))
            await until(lambda: pool.in_flight == 20, "all are sent")
            process.send_signal(signal.SIGKILL)
            results = await asked
    assert_exact(results)
    assert {engine for _, engine in results} == {"e1"}
    assert changes.states("e0") == ["down"]
    assert "no connection to 127.0.0.1" in changes[0].reason


async def test_an_engine_that_comes_back_is_used_again() -> None:
    changes = Changes()
    with stub_process() as (process, url):
        port = int(url.rsplit(":", 1)[1])
        async with pool_of(url, changes=changes) as pool:
            assert_exact(await ask(pool, 3))
            process.kill()
            await asyncio.to_thread(process.wait)
            asked = asyncio.create_task(ask(pool, 5))
            await until(
                lambda: pool.waiting_for.startswith("no engine answers: e0: no connection to"),
                "it says what it waits for",
            )
            with stub_process(port=port):
                assert_exact(await asked)
            assert pool.waiting_for == ""
    assert changes.states() == ["down", "ok"]


async def test_a_starting_engine_is_waited_for() -> None:
    changes = Changes()
    with stub_engine(Behaviour(startup_s=0.8)) as (_, url):
        async with pool_of(url, changes=changes) as pool:
            assert_exact(await ask(pool, 4))
            assert (await pool.model_info()).vocab_size == 32000


async def test_an_engine_that_hangs_with_health_200_is_drained() -> None:
    changes = Changes()
    with stub_engine(Behaviour(hang=True)) as (hanging, bad), stub_engine(Behaviour(latency_s=0.02)) as (_, url):
        async with pool_of(bad, url, changes=changes) as pool:
            results = await ask(pool, 8)
            assert_exact(results)
            assert {engine for _, engine in results} == {"e1"}
            await until(lambda: hanging.in_flight == 0, "the hung requests are taken back")
            hanging.behaviour = Behaviour()
            await until(lambda: changes.states("e0") == ["down", "ok"], "the engine is back")
    assert "/health_generate" in changes[0].reason


async def test_a_slow_engine_is_not_mistaken_for_one_that_hangs() -> None:
    changes = Changes()
    with stub_engine(Behaviour(latency_s=0.3)) as (stub, url):
        async with pool_of(url, changes=changes, settings=PoolSettings(keeper=KeeperSettings(quiet_s=0.05))) as pool:
            assert_exact(await ask(pool, 4))
        assert stub.counts["probes"] > 0
    assert changes == []


async def test_a_full_queue_slows_down_and_loses_nothing() -> None:
    changes = Changes()
    with stub_engine(Behaviour(latency_s=0.05, max_in_flight=6)) as (stub, url):
        async with pool_of(url, changes=changes) as pool:
            asked = asyncio.create_task(ask(pool, 60))
            reason = "the engines are busy: e0: The request queue is full. (6 at once)"
            await until(lambda: pool.waiting_for == reason, "it says what it waits for")
            assert_exact(await asked)
        assert (stub.counts["answers"], stub.peak_in_flight) == (60, 6)
        # 54 of the first burst, and about one for each round of answers after it; trying blindly would make it hundreds.
        assert 54 <= stub.counts["busy"] <= 120
    assert changes.states() == ["busy"]
    assert changes[0].reason.startswith("e0: The request queue is full.")


async def test_a_busy_engine_with_room_again_is_used_fully(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.serving.lane.CALM_S", 0.2)
    changes = Changes()
    with stub_engine(Behaviour(latency_s=0.02, max_in_flight=2)) as (stub, url):
        async with pool_of(url, changes=changes) as pool:
            await ask(pool, 10)
            assert changes.states() == ["busy"]
            stub.behaviour = Behaviour(latency_s=0.02)
            await bounded([pool.generate((1, n), SAMPLING, rid=str(n), seed=n) for n in range(60)], at_once=3)
    assert changes.states() == ["busy", "ok"]


async def test_an_engine_that_refuses_everything_does_not_spin() -> None:
    with stub_engine(Behaviour(refuse=True)) as (stub, url):
        async with pool_of(url, changes=Changes()) as pool:
            asked = asyncio.create_task(ask(pool, 10))
            await asyncio.sleep(0.8)
            assert stub.counts["busy"] <= 10 + 6
            stub.behaviour = Behaviour()
            assert_exact(await asked)


async def test_cut_connections_are_sent_again() -> None:
    changes = Changes()
    with stub_engine(Behaviour(latency_s=0.01, cut_every=7)) as (stub, url):
        async with pool_of(url, changes=changes) as pool:
            assert_exact(await ask(pool, 50))
        assert stub.counts["cut"] >= 7
    # Told once for all that happened within seconds: the engine is healthy.
    assert changes.states() == ["ok"]
    assert "cut" in changes[0].reason


async def test_a_request_that_fails_on_healthy_engines_is_given_up() -> None:
    with stub_engine(Behaviour(cut_every=1)) as (stub, url):
        async with pool_of(url, changes=Changes(), settings=PoolSettings(max_failures=3)) as pool:
            with pytest.raises(EngineUnavailableError, match="cut"):
                await pool.generate((1,), SAMPLING, rid="r", seed=0)
        assert stub.counts["requests"] == 3


async def test_an_answer_that_always_takes_too_long_is_given_up() -> None:
    with stub_engine(Behaviour(latency_s=0.4)) as (stub, url):
        async with pool_of(url, changes=Changes(), timeout_s=0.2) as pool:
            with pytest.raises(EngineUnavailableError, match=r"within 0\.2 s"):
                await pool.generate((1,), SAMPLING, rid="r", seed=0)
        assert stub.counts["requests"] == 2


async def test_an_early_end_by_somebody_else_is_asked_again() -> None:
    with stub_engine(Behaviour(abort_every=2)) as (_, url):
        async with pool_of(url, changes=Changes()) as pool:
            assert_exact(await ask(pool, 6))


async def test_a_bad_request_is_raised_at_once_and_disturbs_nobody() -> None:
    with stub_engine(Behaviour(latency_s=0.05, bad_token=3)) as (stub, url):
        async with pool_of(url, changes=Changes()) as pool:
            results = await asyncio.gather(
                *(pool.generate((1, n), SAMPLING, rid=str(n), seed=n) for n in range(6)), return_exceptions=True
            )
        assert [type(result) for result in results] == [tuple, tuple, tuple, BadRequestError, tuple, tuple]
        assert stub.counts["rejected"] == 1


async def test_abort_all_ends_requests_in_flight_and_those_that_wait() -> None:
    with stub_engine(Behaviour(latency_s=30, max_in_flight=3)) as (stub, url):
        async with pool_of(url, changes=Changes()) as pool:
            asked = [asyncio.create_task(pool.generate((1, n), SAMPLING, rid=str(n), seed=n)) for n in range(5)]
            await until(lambda: pool.waiting_for != "", "two wait")
            await pool.abort_all()
            results = await asyncio.gather(*asked, return_exceptions=True)
            assert [type(result) for result in results] == [AbortedError] * 5
            await until(lambda: stub.in_flight == 0, "the engine is free")
            stub.behaviour = Behaviour()
            assert_exact(await ask(pool, 2))


async def test_abort_all_does_not_wait_for_an_engine_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.serving.pool.ABORT_GRACE_S", 0.2)
    with stub_process(Behaviour(hang=True)) as (process, url):
        async with pool_of(url, changes=Changes(), settings=PoolSettings()) as pool:
            asked = asyncio.create_task(pool.generate((1,), SAMPLING, rid="r", seed=0))
            await until(lambda: pool.in_flight == 1, "it is sent")
            process.send_signal(signal.SIGSTOP)
            await pool.abort_all()
            with pytest.raises(AbortedError):
                await asked


async def test_a_cancelled_waiter_passes_its_turn_on() -> None:
    with stub_engine(Behaviour(latency_s=0.1, max_in_flight=1)) as (_, url):
        async with pool_of(url, changes=Changes()) as pool:
            tasks = [asyncio.create_task(pool.generate((1, n), SAMPLING, rid=str(n), seed=n)) for n in range(6)]
            await until(lambda: pool.waiting_for != "", "some wait")
            for task in tasks[2:4]:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [tuple, tuple, asyncio.CancelledError, asyncio.CancelledError, tuple, tuple]


async def bounded(work: Sequence[Awaitable[tuple[Answer, str]]], *, at_once: int) -> Results:
    room = asyncio.Semaphore(at_once)

    async def one(item: Awaitable[tuple[Answer, str]]) -> tuple[Answer, str]:
        async with room:
            return await item

    return list(await asyncio.gather(*(one(item) for item in work)))
