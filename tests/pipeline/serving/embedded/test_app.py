"""The embedded engine over HTTP, as this project's own client and any other see it."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from pipeline.config import EngineRef, SamplingConfig
from pipeline.errors import AbortedError, BadRequestError, EngineBusyError
from pipeline.serving.client import EngineClient, Partial, connect
from pipeline.serving.embedded.app import create_app
from pipeline.serving.embedded.engine import Engine
from pipeline.serving.embedded.loading import LoadedModel, LoadOptions, load
from tests.support.servers import serving
from tests.support.tiny_speculation import save_tiny_drafter

GREEDY = SamplingConfig(max_new_tokens=12, ignore_eos=True)
LONG = SamplingConfig(max_new_tokens=200, ignore_eos=True)
PROMPT = (5, 6, 7)


@pytest.fixture(scope="module")
def model(llama_folder: Path) -> LoadedModel:
    return load(LoadOptions(model=llama_folder, dtype="float32", device="cpu", threads=1, slots=4, context_length=None))


@pytest.fixture(scope="module")
def url(model: LoadedModel) -> Iterator[str]:
    with serving(create_app(Engine(lambda: model, max_running=4, max_queued=8)), lifespan="on") as url:
        yield url


@pytest.fixture
async def client(url: str) -> AsyncIterator[EngineClient]:
    client = connect(EngineRef(name="embedded", url=url), timeout_s=30)
    await until_state(client, "ok")
    yield client
    await client.close()


@asynccontextmanager
async def post(url: str, path: str, body: Any) -> AsyncIterator[tuple[int, Any]]:  # noqa: ANN401  (any JSON value)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with aiohttp.ClientSession() as session, session.post(url + path, data=raw) as response:
        text = await response.text()
        yield response.status, json.loads(text) if text.startswith(("{", "[")) else text


async def until_state(client: EngineClient, state: str) -> None:
    async with asyncio.timeout(20):
        while (await client.probe()).state != state:
            await asyncio.sleep(0.02)


async def until_running(client: EngineClient, running: int, waiting: int = 0) -> None:
    async with asyncio.timeout(20):
        while True:
            loads = await client.loads()
            if (loads.running, loads.waiting) == (running, waiting):
                return
            await asyncio.sleep(0.01)


async def test_an_answer_has_sglangs_meta_info(url: str, client: EngineClient) -> None:
    answer = await client.generate(PROMPT, GREEDY, rid="r", seed=0)
    assert (answer.finish_reason, answer.prompt_tokens, answer.completion_tokens, len(answer.output_ids)) == (
        "length",
        3,
        12,
        12,
    )
    assert answer.text == " ".join(f"w{token}" for token in answer.output_ids if token > 2)
    assert set(answer.meta) == {
        "id", "finish_reason", "prompt_tokens", "completion_tokens", "cached_tokens", "weight_version", "queue_time",
        "e2e_latency", "first_token_latency", "decode_throughput",
    }  # fmt: skip


async def test_both_protocols_and_the_stream_give_the_same_tokens(url: str, client: EngineClient) -> None:
    partials: list[Partial] = []
    plain = await client.generate(PROMPT, GREEDY, rid="r", seed=0)
    streamed = await client.generate(PROMPT, GREEDY, rid="r", seed=0, on_partial=partials.append)
    openai = connect(EngineRef(name="o", url=url, protocol="openai"), timeout_s=30)
    completed = await openai.generate(PROMPT, GREEDY, rid="r", seed=0)
    await openai.close()
    assert streamed.output_ids == plain.output_ids == completed.output_ids
    assert all(plain.output_ids[: len(partial.output_ids)] == partial.output_ids for partial in partials)
    assert partials
    assert plain.text.startswith(partials[0].text)


async def test_a_list_of_prompts_returns_a_list_in_its_order(url: str, client: EngineClient) -> None:
    alone = [await client.generate((n, n + 1), GREEDY, rid="r", seed=0) for n in range(5, 8)]
    body = {
        "input_ids": [[n, n + 1] for n in range(5, 8)],
        "sampling_params": {"temperature": 0, "max_new_tokens": 12, "ignore_eos": True},
        "rid": ["a", "b", "c"],
    }
    async with post(url, "/generate", body) as (status, answers):
        assert (status, [answer["output_ids"] for answer in answers]) == (200, [list(answer.output_ids) for answer in alone])
        assert [answer["meta_info"]["id"] for answer in answers] == ["a", "b", "c"]


async def test_text_is_tokenized(url: str, client: EngineClient) -> None:
    expected = await client.generate(PROMPT, GREEDY, rid="r", seed=0)
    sampling = {"temperature": 0, "max_new_tokens": 12, "ignore_eos": True}
    async with post(url, "/generate", {"text": "w5 w6 w7", "sampling_params": sampling}) as (_, answer):
        assert answer["output_ids"] == list(expected.output_ids)
    async with post(url, "/generate", {"text": ["w5 w6 w7"], "sampling_params": sampling}) as (_, answers):
        assert answers[0]["output_ids"] == list(expected.output_ids)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"input_ids": [5, 300]}, "token id 300 is outside the vocabulary of 300"),
        ({"input_ids": [5, -1]}, "token id -1 is negative"),
        ({"input_ids": []}, "the prompt has no tokens"),
        ({"input_ids": [[5], []]}, "the prompt has no tokens"),
        ({"input_ids": [5], "sampling_params": {"banana": 1}}, "sampling_params.banana: Extra inputs are not permitted"),
        ({"input_ids": [5], "sampling_params": {"max_new_tokens": 256}}, "requested token count exceeds"),
        ({"input_ids": [5] * 256}, "is longer than the model's context length (256 tokens)"),
        ({}, "either input_ids or text is needed"),
        ({"input_ids": [[5], [6]], "stream": True}, "streaming takes one prompt at a time"),
        (b"{", "Invalid JSON"),
    ],
)
async def test_a_bad_request_is_a_400_and_the_server_lives(url: str, client: EngineClient, body: Any, message: str) -> None:  # noqa: ANN401
    async with post(url, "/generate", body) as (status, error):
        assert (status, list(error)) == (400, ["error"])
        assert message in error["error"]["message"]
    assert (await client.generate(PROMPT, GREEDY, rid="r", seed=0)).completion_tokens == 12


async def test_a_bad_id_is_found_by_the_client_before_it_is_sent(client: EngineClient) -> None:
    assert (await client.model_info()).vocab_size == 300
    with pytest.raises(BadRequestError, match=r"^token id 300"):
        await client.generate((300,), GREEDY, rid="r", seed=0)


async def test_sampling_is_reproducible_by_seed(client: EngineClient) -> None:
    warm = SamplingConfig(temperature=1.0, top_p=0.95, top_k=50, min_p=0.01, max_new_tokens=20, ignore_eos=True)
    crowd = [client.generate((n,), warm, rid=f"c{n}", seed=n) for n in range(3, 6)]
    alone = await client.generate(PROMPT, warm, rid="a", seed=7)
    together, other, *_ = await asyncio.gather(
        client.generate(PROMPT, warm, rid="b", seed=7), client.generate(PROMPT, warm, rid="c", seed=8), *crowd
    )
    assert together.output_ids == alone.output_ids
    assert other.output_ids != alone.output_ids


async def test_a_full_queue_is_a_503_in_sglangs_shape(url: str, client: EngineClient) -> None:
    tasks = [asyncio.create_task(client.generate((n,), LONG, rid=str(n), seed=0)) for n in range(3, 15)]
    await until_running(client, 4, 8)
    async with post(url, "/generate", {"input_ids": [5]}) as (status, error):
        assert (status, error["message"], error["code"]) == (503, "The request queue is full.", 503)
    with pytest.raises(EngineBusyError):
        await client.generate(PROMPT, GREEDY, rid="r", seed=0)
    assert (await client.probe()).ok
    assert [(await task).completion_tokens for task in tasks] == [200] * 12


async def test_abort_ends_one_request_with_its_part(url: str, client: EngineClient) -> None:
    first, second = (asyncio.create_task(client.generate(PROMPT, LONG, rid=rid, seed=0)) for rid in ("one", "two"))
    await until_running(client, 2)
    await client.abort("one")
    with pytest.raises(AbortedError, match="Aborted by request"):
        await first
    assert (await second).completion_tokens == 200


async def test_abort_all_and_an_unknown_id_are_200(url: str, client: EngineClient) -> None:
    async with post(url, "/abort_request", {"rid": "nobody"}) as (status, _):
        assert status == 200
    task = asyncio.create_task(client.generate(PROMPT, LONG, rid="r", seed=0))
    await until_running(client, 1)
    async with post(url, "/abort_request", {"abort_all": True}) as (status, _):
        assert status == 200
    with pytest.raises(AbortedError):
        await task


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_goes_away_frees_its_slot(client: EngineClient, stream: bool) -> None:
    partial = (lambda _: None) if stream else None
    task = asyncio.create_task(client.generate(PROMPT, LONG, rid="r", seed=0, on_partial=partial))
    await until_running(client, 1)
    task.cancel()
    await until_running(client, 0)
    assert (await client.loads()).waiting == 0


async def test_a_request_id_in_use_is_refused(url: str, client: EngineClient) -> None:
    body = {"input_ids": [5], "rid": "same", "sampling_params": {"temperature": 0, "max_new_tokens": 200, "ignore_eos": True}}

    async def send() -> int:
        async with post(url, "/generate", body) as (status, _):
            return status

    assert sorted(await asyncio.gather(send(), send())) == [200, 400]
    assert await send() == 200


async def test_flush_cache_tells_whether_the_engine_is_idle(url: str, client: EngineClient) -> None:
    await until_running(client, 0)
    async with post(url, "/flush_cache", {}) as (status, _):
        assert status == 200
    task = asyncio.create_task(client.generate(PROMPT, LONG, rid="r", seed=0))
    await until_running(client, 1)
    async with post(url, "/flush_cache", {}) as (status, _):
        assert status == 400
    await task


async def test_the_older_paths_answer_too(url: str, client: EngineClient) -> None:
    async with aiohttp.ClientSession() as session:
        for path in ("/model_info", "/server_info"):
            new, old = [await (await session.get(url + p)).json() for p in (path, path.replace("/", "/get_"))]
            assert new == old


async def test_the_engine_answers_503_while_its_model_loads(model: LoadedModel) -> None:
    loaded = threading.Event()

    def slowly() -> LoadedModel:
        loaded.wait(20)
        return model

    with serving(create_app(Engine(slowly, max_running=2)), lifespan="on") as url:
        client = connect(EngineRef(name="e", url=url), timeout_s=10)
        assert (await client.probe()).state == "starting"
        with pytest.raises(EngineBusyError, match="starting"):
            await client.generate(PROMPT, GREEDY, rid="r", seed=0)
        loaded.set()
        await until_state(client, "ok")
        assert (await client.generate(PROMPT, GREEDY, rid="r", seed=0)).completion_tokens == 12
        await client.close()


@contextmanager
def engine_of(loaded: LoadedModel) -> Iterator[str]:
    with serving(create_app(Engine(lambda: loaded, max_running=2)), lifespan="on") as url:
        yield url


@pytest.mark.slow
async def test_drafts_are_counted_in_sglangs_keys_and_change_no_token(deep_folder: Path, tmp_path: Path) -> None:
    options = LoadOptions(model=deep_folder, dtype="float32", device="cpu", threads=1, slots=2, context_length=None)
    drafter = save_tiny_drafter(deep_folder, tmp_path / "drafter")
    body = {
        "input_ids": list(range(3, 30)) * 2,
        "sampling_params": {"temperature": 0, "max_new_tokens": 30, "ignore_eos": True},
        "return_draft_depths": True,
    }
    answers = []
    for changes in ({}, {"draft": "lookup"}, {"draft_model": drafter}):
        loaded = load(replace(options, **changes))
        with engine_of(loaded) as url:
            client = connect(EngineRef(name="e", url=url), timeout_s=10)
            await until_state(client, "ok")
            await client.close()
            async with post(url, "/generate", body) as (_, answer):
                answers.append(answer)
            async with aiohttp.ClientSession() as session:
                info, loads = [await (await session.get(url + path)).json() for path in ("/get_server_info", "/v1/loads")]
        meta, told = answer["meta_info"], info["internal_states"][0]["avg_spec_accept_length"]
        if not changes:
            assert (told, "speculative" in loads["loads"][0], "spec_verify_ct" in meta) == (None, False, False)
            continue
        assert loads["loads"][0]["speculative"] == {"accept_length": told}
        assert meta["spec_accept_length"] == 30 / meta["spec_verify_ct"]
        assert sum(meta["spec_correct_drafts_histogram"]) == meta["spec_verify_ct"]
        assert meta["spec_num_correct_drafts"] == sum(depth > 0 for depth in meta["draft_depths"])
        assert meta["spec_accept_rate"] == meta["spec_num_correct_drafts"] / meta["spec_num_proposed_drafts"]
    assert answers[0]["output_ids"] == answers[1]["output_ids"] == answers[2]["output_ids"]
    assert answers[0]["meta_info"]["draft_depths"] == [0] * 30
