"""Asking one prompt, over a real pool and a stub engine."""

import asyncio
from pathlib import Path

import pytest

from pipeline.config import EngineRef, GenerateConfig, SamplingConfig
from pipeline.datasets.conversation import Conversation, new_conversation
from pipeline.errors import AbortedError
from pipeline.generation.engines import Engines
from pipeline.generation.request import LONG_CHARS, ask
from pipeline.responses.record import Failure, Response
from tests.support.answers import SCOPE
from tests.support.models import CHATML, tiny_tokenizer
from tests.support.prompts import chat
from tests.support.stub_engine import StubEngine

REFUSING = CHATML + "{% if messages[0]['content'] == 'no' %}{{ raise_exception('no system turn') }}{% endif %}"


def answers(root: Path, url: str, *prompts: Conversation, take_back: bool = False) -> list[Response | Failure]:
    tokenizer = tiny_tokenizer(root / "tokenizer", template=REFUSING)
    config = GenerateConfig(project="p", responses="r", tokenizer=str(tokenizer), engines=(EngineRef(name="e1", url=url),))

    async def ask_all() -> list[Response | Failure]:
        engines = Engines(config, on_change=lambda change: None)
        try:
            await engines.prepare()
            if take_back:
                await engines.take_back()
            sampling = SamplingConfig(max_new_tokens=16)
            return list(await asyncio.gather(*(ask(engines, prompt, SCOPE, sampling) for prompt in prompts)))
        finally:
            await engines.close()

    return asyncio.run(ask_all())


def test_prompts_short_and_long_are_answered(tmp_path: Path, engine: tuple[StubEngine, str]) -> None:
    short, long = answers(tmp_path, engine[1], chat("hi", label="a"), chat("y " * LONG_CHARS, label="b"))
    assert isinstance(short, Response)
    assert (short.id, short.messages, short.finish_reason in ("stop", "length")) == ("a", chat("hi").messages, True)
    assert isinstance(long, Failure)
    assert long.reason.startswith("the prompt has ")


def test_row_that_the_template_refuses_is_its_own_error(tmp_path: Path, engine: tuple[StubEngine, str]) -> None:
    refused, fine = answers(tmp_path, engine[1], chat("no", label="a"), chat("yes", label="b"))
    assert isinstance(refused, Failure)
    assert (refused.id, "no system turn" in refused.reason) == ("a", True)
    assert isinstance(fine, Response)


def test_id_beyond_the_engines_vocabulary_is_never_sent(tmp_path: Path, engine: tuple[StubEngine, str]) -> None:
    stub, url = engine
    (found,) = answers(tmp_path, url, new_conversation(label="a", input_ids=(5, 40_000)))
    assert isinstance(found, Failure)
    assert stub.counts["requests"] == 0


def test_nothing_is_sent_after_the_run_took_its_requests_back(tmp_path: Path, engine: tuple[StubEngine, str]) -> None:
    stub, url = engine
    with pytest.raises(AbortedError, match="the run is being stopped"):
        answers(tmp_path, url, chat("hi"), take_back=True)
    assert stub.counts["requests"] == 0
