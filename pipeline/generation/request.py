"""One prompt → its answer, or the reason why there is none."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

from pipeline.config import SamplingConfig
from pipeline.datasets.conversation import Conversation
from pipeline.errors import BadRequestError, DataError, EngineUnavailableError
from pipeline.generation.engines import Engines
from pipeline.responses.record import Failure, Response, Scope, record_seed
from pipeline.serving.client import validate_ids
from pipeline.serving.records import PromptName

LONG_CHARS = 20_000


async def ask(engines: Engines, prompt: Conversation, scope: Scope, sampling: SamplingConfig) -> Response | Failure:
    """Ask for one answer, however long it takes. Raises AbortedError when it is to be tried again."""
    try:
        ids = await _encode(engines, prompt)
        validate_ids(ids, engines.limits.vocab_size)
        room = engines.limits.room(len(ids), sampling.max_new_tokens)
        seed = record_seed(sampling.seed, prompt.key)
        rid = f"{scope.dataset}-{prompt.key}"
        name = PromptName(scope.dataset, prompt.key)
        answer, engine = await engines.generate(ids, replace(sampling, max_new_tokens=room), rid=rid, seed=seed, prompt=name)
    except (DataError, BadRequestError, EngineUnavailableError) as error:
        return failure(prompt, scope, str(error))
    return Response(
        key=prompt.key,
        id=prompt.id,
        dataset=scope.dataset,
        revision=scope.revision,
        sampling=scope.sampling,
        seed=seed,
        messages=prompt.messages,
        tools=prompt.tools,
        prompt_ids=tuple(ids),
        output_ids=answer.output_ids,
        text=answer.text,
        finish_reason=answer.finish_reason,
        prompt_tokens=len(ids),
        completion_tokens=answer.completion_tokens,
        engine=engine,
        latency_s=round(answer.latency_s, 4),
        finished_at=_now(),
    )


async def _encode(engines: Engines, prompt: Conversation) -> list[int]:
    """A long prompt in a thread: it takes tens of milliseconds, in which no other answer could be taken."""
    if sum(len(str(message["content"])) for message in prompt.messages) < LONG_CHARS:
        return engines.tokenizer.encode(prompt)
    return await asyncio.to_thread(engines.tokenizer.encode, prompt)


def failure(prompt: Conversation, scope: Scope, reason: str) -> Failure:
    """What is kept of a prompt that gave no answer."""
    return Failure(
        key=prompt.key,
        id=prompt.id,
        dataset=scope.dataset,
        revision=scope.revision,
        sampling=scope.sampling,
        reason=reason,
        failed_at=_now(),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
