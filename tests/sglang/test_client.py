"""Our client against a real SGLang: answers, refusals, aborts, a full queue, and what the server tells of itself."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from pipeline.config import EngineRef, SamplingConfig
from pipeline.errors import AbortedError, BadRequestError, EngineBusyError
from pipeline.serving.client import Answer, EngineClient, Partial, connect
from tests.sglang.conftest import Served
from tests.support.tiny_model import CONTEXT, VOCAB_SIZE

pytestmark = pytest.mark.sglang
PROMPT = (1, 5, 17, 23)
SHORT = SamplingConfig(max_new_tokens=12)
LONG = SamplingConfig(max_new_tokens=CONTEXT - 16, ignore_eos=True)


@pytest.fixture
async def client(plain: Served) -> AsyncIterator[EngineClient]:
    found = connect(EngineRef(name="real", url=plain.url), timeout_s=60, vocab_size=VOCAB_SIZE)
    try:
        yield found
    finally:
        await found.close()


async def test_answer_is_the_same_streamed_or_whole(client: EngineClient) -> None:
    partials: list[Partial] = []
    whole = await client.generate(PROMPT, SHORT, rid="a", seed=1)
    streamed = await client.generate(PROMPT, SHORT, rid="a", seed=1, on_partial=partials.append)
    assert whole.output_ids == streamed.output_ids
    assert (whole.prompt_tokens, whole.completion_tokens) == (len(PROMPT), len(whole.output_ids))
    assert all(whole.output_ids[: len(partial.output_ids)] == partial.output_ids for partial in partials)


async def test_request_that_can_never_succeed_is_refused_and_the_next_one_is_answered(client: EngineClient) -> None:
    for ids in ([5] * (CONTEXT + 1), [5, VOCAB_SIZE], []):
        with pytest.raises(BadRequestError):
            await client.generate(ids, SHORT, rid="bad", seed=1)
    assert (await client.generate(PROMPT, SHORT, rid="good", seed=1)).completion_tokens > 0


async def test_unknown_sampling_key_is_a_bad_request(plain: Served) -> None:
    body = {"input_ids": list(PROMPT), "sampling_params": {"temprature": 0}}
    async with httpx.AsyncClient(trust_env=False) as http:
        assert (await http.post(f"{plain.url}/generate", json=body, timeout=30)).status_code == 400


async def test_full_queue_refuses_and_what_was_accepted_is_answered(client: EngineClient) -> None:
    found = await asyncio.gather(
        *(client.generate(PROMPT, LONG, rid=f"r{n}", seed=n) for n in range(24)), return_exceptions=True
    )
    answers = [one for one in found if isinstance(one, Answer)]
    refusals = [one for one in found if isinstance(one, EngineBusyError)]
    assert len(answers) + len(refusals) == len(found), found
    assert len(answers) >= 8, "four are worked on at once, and four may wait"
    assert refusals
    assert {answer.completion_tokens for answer in answers} == {LONG.max_new_tokens}


async def test_full_queue_is_told_in_a_stream_too(client: EngineClient) -> None:
    asked = (client.generate(PROMPT, LONG, rid=f"s{n}", seed=n, on_partial=lambda _: None) for n in range(24))
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert {type(one) for one in found} == {Answer, EngineBusyError}


async def test_abort_ends_a_request_early_and_frees_its_place(client: EngineClient) -> None:
    first: asyncio.Event = asyncio.Event()
    running = asyncio.ensure_future(client.generate(PROMPT, LONG, rid="x", seed=1, on_partial=lambda _: first.set()))
    await asyncio.wait_for(first.wait(), 30)
    await client.abort("x")
    with pytest.raises(AbortedError):
        await running
    async with asyncio.timeout(30):
        while (await client.loads()).running:
            await asyncio.sleep(0.1)


async def test_server_tells_of_itself_and_an_idle_one_makes_no_tokens(client: EngineClient) -> None:
    info = await client.model_info()
    assert (info.version, info.model_path.rsplit("/", 1)[-1]) == ("0.5.23", "target")
    assert info.context_length is not None
    assert CONTEXT - 16 < info.context_length <= CONTEXT
    async with asyncio.timeout(30):
        while (loads := await client.loads()).running:
            await asyncio.sleep(0.1)
    assert (loads.waiting, loads.gen_throughput, loads.accept_length) == (0, 0.0, None)
    assert (await client.probe()).ok
