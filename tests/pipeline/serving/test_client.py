"""Both protocols against a real server: what comes back, and how failures are named."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import pytest
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from pipeline.config import EngineRef, SamplingConfig
from pipeline.errors import AbortedError, BadRequestError, EngineBusyError, EngineUnavailableError
from pipeline.serving import base
from pipeline.serving.client import EngineClient, Partial, connect, validate_ids
from tests.support.servers import serving, stub_engine
from tests.support.stub_engine import Behaviour, StubEngine, answer_for

PROMPT = (1, 5, 6)
SHORT = SamplingConfig(max_new_tokens=20)
Protocol = Literal["sglang", "openai"]
PROTOCOLS: tuple[Protocol, ...] = ("sglang", "openai")


@asynccontextmanager
async def client_of(
    behaviour: Behaviour,
    protocol: Protocol = "sglang",
    timeout_s: float = 20.0,
    probe_timeout_s: float = 5.0,
) -> AsyncIterator[tuple[EngineClient, StubEngine]]:
    with stub_engine(behaviour) as (stub, url):
        client = connect(EngineRef(name="a", url=url, protocol=protocol), timeout_s=timeout_s, probe_timeout_s=probe_timeout_s)
        try:
            yield client, stub
        finally:
            await client.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_generate_returns_the_engines_tokens(protocol: Protocol) -> None:
    async with client_of(Behaviour(latency_s=0.02), protocol) as (client, _):
        answer = await client.generate(PROMPT, SHORT, rid="r", seed=7)
    expected = answer_for(PROMPT, seed=7, max_new_tokens=20)
    assert (answer.output_ids, answer.text, answer.finish_reason) == (expected.ids, expected.text, expected.finish_reason)
    assert (answer.prompt_tokens, answer.completion_tokens) == (3, len(expected.ids))
    assert answer.latency_s >= 0.02


async def test_streaming_reports_cumulative_partials_and_the_first_token() -> None:
    partials: list[Partial] = []
    async with client_of(Behaviour(latency_s=0.2, sigma=0)) as (client, _):
        answer = await client.generate(PROMPT, SHORT, rid="r", seed=7, on_partial=partials.append)
    assert [len(partial.output_ids) for partial in partials] == [5, 10, 15]
    assert all(answer.output_ids[: len(partial.output_ids)] == partial.output_ids for partial in partials)
    assert answer.first_token_s is not None
    assert 0 < answer.first_token_s < answer.latency_s


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (Behaviour(refuse=True), EngineBusyError),
        (Behaviour(bad_token=5), BadRequestError),
        (Behaviour(cut_every=1), EngineUnavailableError),
        (Behaviour(abort_every=1), AbortedError),
        (Behaviour(hang=True), EngineUnavailableError),
    ],
)
async def test_failures_have_names(protocol: Protocol, behaviour: Behaviour, error: type[Exception]) -> None:
    async with client_of(behaviour, protocol, timeout_s=0.5) as (client, _):
        with pytest.raises(error, match=r"^a: "):
            await client.generate(PROMPT, SHORT, rid="r", seed=0)


async def test_a_full_queue_found_while_streaming_is_busy() -> None:
    async with client_of(Behaviour(refuse=True)) as (client, _):
        with pytest.raises(EngineBusyError, match="starting"):
            await client.generate(PROMPT, SHORT, rid="r", seed=0, on_partial=lambda _: None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_abort_ends_only_the_own_request(protocol: Protocol) -> None:
    async with client_of(Behaviour(latency_s=0.5), protocol) as (client, stub):
        mine = asyncio.create_task(client.generate(PROMPT, SHORT, rid="mine", seed=0))
        other = asyncio.create_task(client.generate(PROMPT, SHORT, rid="mine-too", seed=0))
        await until(lambda: stub.in_flight == 2)
        await client.abort("mine")
        with pytest.raises(AbortedError):
            await mine
        assert (await other).output_ids == answer_for(PROMPT, max_new_tokens=20).ids


async def test_abort_without_an_id_leaves_the_requests_of_other_clients() -> None:
    async with client_of(Behaviour(latency_s=0.5)) as (client, stub):
        other = connect(client.ref, timeout_s=20)
        theirs = asyncio.create_task(other.generate(PROMPT, SHORT, rid="r", seed=0))
        mine = [asyncio.create_task(client.generate(PROMPT, SHORT, rid=str(i), seed=0)) for i in range(3)]
        await until(lambda: stub.in_flight == 4)
        await client.abort()
        results = await asyncio.gather(*mine, return_exceptions=True)
        assert [type(result) for result in results] == [AbortedError] * 3
        assert (await theirs).finish_reason in ("stop", "length")
        await other.close()


async def test_a_cancelled_request_frees_its_slot() -> None:
    async with client_of(Behaviour(latency_s=30)) as (client, stub):
        task = asyncio.create_task(client.generate(PROMPT, SHORT, rid="r", seed=0))
        await until(lambda: stub.in_flight == 1)
        task.cancel()
        await until(lambda: stub.in_flight == 0)
        assert stub.counts["disconnected"] == 1


async def test_server_that_takes_connections_and_says_nothing_at_all_is_hung(monkeypatch: pytest.MonkeyPatch) -> None:
    """As SGLang's own /health, which waits for a token."""
    monkeypatch.setattr(base, "HEALTH_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = connect(EngineRef(name="a", url=f"http://127.0.0.1:{silent.getsockname()[1]}"), timeout_s=1)
        health = await client.probe()
        await client.close()
    assert (health.state, health.detail) == ("hung", "a: no answer to /health within 0.3 s")


@pytest.mark.parametrize(("running", "rate"), [(2, 88.5), (0, 0.0)])
async def test_rate_of_a_server_without_requests_is_not_that_of_its_last_ones(running: int, rate: float) -> None:
    load = {"num_running_reqs": running, "num_waiting_reqs": 0, "gen_throughput": 88.5}

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        told = {"loads": [load]} if scope["path"] == "/v1/loads" else {"internal_states": [{"last_gen_throughput": 88.5}]}
        await JSONResponse(told)(scope, receive, send)

    with serving(answer) as url:
        client = connect(EngineRef(name="a", url=url), timeout_s=5)
        loads = await client.loads()
        await client.close()
    assert (loads.running, loads.gen_throughput) == (running, rate)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_probe_tells_ok_from_starting_hung_and_down(protocol: Protocol) -> None:
    async with client_of(Behaviour(), protocol, probe_timeout_s=0.3) as (client, stub):
        assert (await client.probe()).state == "ok"
        stub.behaviour = Behaviour(startup_s=1e9)
        assert (await client.probe()).state == "starting"
        stub.behaviour = Behaviour(hang=True)
        assert (await client.probe()).state == "hung"
    down = connect(EngineRef(name="a", url="http://127.0.0.1:1", protocol=protocol), timeout_s=1)
    assert (await down.probe()).state == "down"
    await down.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_model_info_tells_the_limits(protocol: Protocol) -> None:
    async with client_of(Behaviour(vocab_size=50, context_length=99), protocol) as (client, _):
        info = await client.model_info()
        assert (info.model_path, info.context_length) == ("stub", 99)
        if protocol == "sglang":
            with pytest.raises(BadRequestError, match="token id 50 is outside the vocabulary of 50"):
                await client.generate((1, 50), SHORT, rid="r", seed=0)


async def test_older_paths_are_tried_when_a_server_lacks_the_new_ones() -> None:
    async def older(scope, receive, send) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001  (ASGI)
        found = scope["path"] in ("/get_model_info", "/get_server_info")
        body = b'{"model_path": "m", "max_req_input_len": 77, "internal_states": [{"last_gen_throughput": 5.5}]}'
        await send({"type": "http.response.start", "status": 200 if found else 404, "headers": []})
        await send({"type": "http.response.body", "body": body if found else b'{"detail": "Not Found"}'})

    with serving(older) as url:
        client = connect(EngineRef(name="a", url=url), timeout_s=5)
        assert (await client.model_info()).context_length == 77
        assert (await client.loads()).gen_throughput == 5.5
        await client.close()


async def test_loads_counts_running_and_waiting() -> None:
    async with client_of(Behaviour(latency_s=30, slots=2)) as (client, stub):
        tasks = [asyncio.create_task(client.generate(PROMPT, SHORT, rid=str(i), seed=0)) for i in range(3)]
        await until(lambda: stub.in_flight == 3)
        loads = await client.loads()
        assert (loads.running, loads.waiting, loads.accept_length) == (2, 1, None)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize(
    ("ids", "reason"),
    [((), "no tokens"), ((3, -1), "token id -1 is negative"), ((3, 300), "token id 300 is outside the vocabulary of 300")],
)
def test_validate_ids_refuses_what_would_kill_a_server(ids: tuple[int, ...], reason: str) -> None:
    with pytest.raises(BadRequestError, match=reason):
        validate_ids(ids, 300)


def test_validate_ids_takes_the_last_id_of_the_vocabulary() -> None:
    validate_ids((0, 299), 300)


def test_client_and_pool_load_without_torch_and_the_server() -> None:
    program = "import sys, pipeline.serving.pool, pipeline.serving.client, pipeline.serving.embedded.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"torch", "transformers", "starlette", "uvicorn"} & set(loaded) == set()


async def until(condition) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)
