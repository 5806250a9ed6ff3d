"""A drafter trained here, served by SGLang: the same tokens and the same accept length as in the embedded engine."""

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.acceptance import Served as Counts
from pipeline.acceptance import served_accept_length
from pipeline.config import EngineRef, SamplingConfig
from pipeline.draft_shape import DraftShape
from pipeline.serving.client import Answer, connect
from pipeline.serving.embedded.draft_loading import checkpoint_source
from pipeline.serving.embedded.loading import LoadOptions, load
from pipeline.serving.embedded.offline import Decoded, decode
from tests.sglang.conftest import Served

pytestmark = pytest.mark.sglang
PROMPTS = [random.Random(n).choices(range(3, 40), k=5 + n % 7) for n in range(50)]
NEW_TOKENS = 48
SHAPE = DraftShape(steps=3, topk=1, draft_tokens=4)


def embedded(target: Path, checkpoint: Path | None) -> list[Decoded]:
    options = LoadOptions(model=target, dtype="float32", device="cpu", threads=1, slots=8, context_length=None)
    loaded = load(options)
    source = checkpoint_source(checkpoint, loaded.runner, SHAPE) if checkpoint else None
    return decode(loaded.runner, source, PROMPTS, max_new_tokens=NEW_TOKENS, stop_ids=loaded.eos_ids)


async def served(url: str, prompts: Sequence[Sequence[int]]) -> list[Answer]:
    client = connect(EngineRef(name="real", url=url), timeout_s=120)
    at_once = asyncio.Semaphore(4)

    async def ask(number: int, ids: Sequence[int]) -> Answer:
        async with at_once:
            return await client.generate(ids, SamplingConfig(max_new_tokens=NEW_TOKENS), rid=str(number), seed=0)

    try:
        return await asyncio.gather(*(ask(number, ids) for number, ids in enumerate(prompts)))
    finally:
        await client.close()


async def test_trained_drafter_gives_the_same_tokens_and_accept_length_as_the_embedded_engine(
    plain: Served, drafting: Served, files: Path, checkpoint: Path
) -> None:
    ours = embedded(files / "target", checkpoint)
    undrafted, theirs = await served(plain.url, PROMPTS), await served(drafting.url, PROMPTS)
    assert [answer.output_ids for answer in theirs] == [answer.tokens for answer in ours]
    assert [answer.output_ids for answer in undrafted] == [answer.tokens for answer in ours]
    length = served_accept_length([answer.served for answer in ours])
    counts = [
        Counts(completion_tokens=answer.completion_tokens, verify_ct=int(answer.meta["spec_verify_ct"])) for answer in theirs
    ]
    assert length > 1.05, "the drafter that was trained accepts too little to compare anything"
    assert served_accept_length(counts) == pytest.approx(length, rel=0.02)
