"""One pass: a dataset's prompts through one engine, so many at once, with every request timed."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.benchmark.engines import Engine
from pipeline.benchmark.measured import Request
from pipeline.benchmark.prompts import Prompt
from pipeline.config import SamplingConfig
from pipeline.errors import EngineError
from pipeline.responses.record import record_seed
from pipeline.serving.records import Partial

HISTOGRAMS = ("spec_correct_drafts_histogram", "spec_accept_histogram")
"""The counts' name, now and before SGLang 0.5.10."""


async def measure(
    engine: Engine,
    prompts: Sequence[Prompt],
    *,
    sampling: SamplingConfig,
    concurrency: int,
    stopping: asyncio.Event,
    keep: Callable[[Request], None],
) -> float | None:
    """Seconds from the first request to the last answer; None when it was stopped, with no request left in flight.

    `keep` gets each request as it ends. Raises EngineError: a pass with a gap in it measures nothing.
    """
    waiting = deque(prompts)
    started = time.perf_counter()

    async def work() -> None:
        while waiting and not stopping.is_set():
            keep(await ask(engine, waiting.popleft(), sampling))

    workers = [asyncio.ensure_future(work()) for _ in range(min(concurrency, len(prompts)))]
    try:
        await asyncio.gather(*workers)
    except EngineError as error:
        raise await engine.explain(error) from error
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return None if waiting else time.perf_counter() - started


async def ask(engine: Engine, prompt: Prompt, sampling: SamplingConfig) -> Request:
    """One answer, streamed, so that its first token is seen when it comes."""
    seed = record_seed(sampling.seed, prompt.key)
    rid = f"{prompt.dataset}-{prompt.key}"
    answer = await engine.client.generate(prompt.ids, sampling, rid=rid, seed=seed, on_partial=_ignore)
    verify_ct, correct = _drafts(answer.meta)
    # An answer of one token needs no verification, and some engines then tell of none.
    if engine.contender.mode != "plain" and verify_ct is None and answer.completion_tokens > 1:
        raise EngineError(f"{engine.client.name} tells no verifications (spec_verify_ct): it runs without drafts")
    return Request(
        key=prompt.key,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        finish_reason=answer.finish_reason,
        latency_s=answer.latency_s,
        first_token_s=answer.first_token_s,
        verify_ct=verify_ct or 0,
        correct_drafts=correct,
        output_ids=answer.output_ids,
    )


def _drafts(meta: Mapping[str, Any]) -> tuple[int | None, tuple[int, ...]]:
    """Verifications, and how many of them accepted 0, 1, 2, … drafts."""
    histogram = next((meta[name] for name in HISTOGRAMS if meta.get(name) is not None), ())
    return meta.get("spec_verify_ct"), tuple(int(count) for count in histogram)


def _ignore(_partial: Partial) -> None:
    """An answer on its way: its timing is the client's."""
