import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pipeline.benchmark.contenders import PLAIN, Contender
from pipeline.benchmark.engines import Engine
from pipeline.benchmark.measured import Request
from pipeline.benchmark.passes import measure
from pipeline.benchmark.processes import EngineProcess
from pipeline.benchmark.prompts import Prompt
from pipeline.config import EngineRef, SamplingConfig
from pipeline.draft_shape import DraftShape
from pipeline.errors import EngineBusyError, EngineError
from pipeline.responses.record import record_seed
from pipeline.serving.client import connect
from pipeline.serving.transport import Transport
from tests.support.servers import stub_engine
from tests.support.stub_answers import accepted_drafts
from tests.support.stub_engine import Behaviour, StubEngine, answer_for

PROMPTS = [Prompt(dataset="B1", key=f"{n:016x}", id="", text="", ids=(5, n + 3)) for n in range(6)]
SAMPLING = SamplingConfig(max_new_tokens=20, seed=4)
DRAFTER = Contender(mode="drafter", shape=DraftShape())


@asynccontextmanager
async def connected(behaviour: Behaviour, contender: Contender = PLAIN) -> AsyncIterator[tuple[StubEngine, Engine]]:
    with stub_engine(behaviour) as (stub, url):
        ref = EngineRef(name="e", url=url)
        engine = Engine(contender=contender, client=connect(ref, timeout_s=30), transport=Transport(url, name="e"))
        try:
            yield stub, engine
        finally:
            await engine.client.close()


async def run(
    engine: Engine, requests: list[Request], *, concurrency: int = 1, stopping: asyncio.Event | None = None
) -> float | None:
    return await measure(
        engine,
        PROMPTS,
        sampling=SAMPLING,
        concurrency=concurrency,
        stopping=stopping or asyncio.Event(),
        keep=requests.append,
    )


async def test_pass_takes_as_long_as_its_requests() -> None:
    requests: list[Request] = []
    async with connected(Behaviour(latency_s=0.05)) as (stub, engine):
        seconds = await run(engine, requests, concurrency=2)
        assert stub.peak_in_flight == 2
    assert seconds is not None
    assert seconds >= 3 * 0.05
    assert sorted(request.key for request in requests) == [prompt.key for prompt in PROMPTS]
    for request, prompt in zip(sorted(requests, key=lambda request: request.key), PROMPTS, strict=True):
        seed = record_seed(4, prompt.key)
        assert request.output_ids == answer_for(prompt.ids, seed=seed, max_new_tokens=20).ids
        assert request.first_token_s is not None
        assert 0 < request.first_token_s <= request.latency_s
        assert (request.verify_ct, request.correct_drafts) == (0, ())


async def test_verifications_are_what_the_engine_counted() -> None:
    requests: list[Request] = []
    async with connected(Behaviour(draft_steps=3), DRAFTER) as (_, engine):
        await run(engine, requests)
    for request in requests:
        accepted = accepted_drafts(request.output_ids, 3)
        assert request.verify_ct == len(accepted)
        assert request.correct_drafts == tuple(accepted.count(n) for n in range(4))


async def test_stop_waits_for_what_is_in_flight_and_sends_nothing_more() -> None:
    requests: list[Request] = []
    stopping = asyncio.Event()
    async with connected(Behaviour(latency_s=0.1)) as (stub, engine):
        asyncio.get_running_loop().call_later(0.05, stopping.set)
        assert await run(engine, requests, stopping=stopping) is None
        assert (len(requests), stub.counts["requests"], stub.counts["disconnected"]) == (1, 1, 0)


async def test_stop_behind_the_last_request_cuts_nothing() -> None:
    requests: list[Request] = []
    stopping = asyncio.Event()
    async with connected(Behaviour(latency_s=0.1)) as (_, engine):
        asyncio.get_running_loop().call_later(0.05, stopping.set)
        assert await run(engine, requests, concurrency=6, stopping=stopping) is not None
    assert len(requests) == 6


async def test_drafter_that_tells_no_verifications_is_refused() -> None:
    async with connected(Behaviour(), DRAFTER) as (_, engine):
        with pytest.raises(EngineError, match="e tells no verifications"):
            await run(engine, [])


async def test_engine_that_refuses_ends_the_pass() -> None:
    async with connected(Behaviour(refuse=True)) as (_, engine):
        with pytest.raises(EngineBusyError, match="e: "):
            await run(engine, [], concurrency=3)


async def test_engine_of_our_own_that_dies_is_named_with_its_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.support.stub_engine", "--die-after", "2"]
    process = EngineProcess("plain", command, tmp_path)
    try:
        ref = EngineRef(name="plain", url=await process.url())
        client, transport = connect(ref, timeout_s=30), Transport(ref.url, name=ref.name)
        engine = Engine(contender=PLAIN, client=client, transport=transport, process=process)
        requests: list[Request] = []
        with pytest.raises(EngineError, match="engine plain was killed by SIGKILL: stub engine listening on"):
            await run(engine, requests)
        await client.close()
        # The second one was cut before its end.
        assert len(requests) == 1
    finally:
        process.terminate()
        process.wait()
