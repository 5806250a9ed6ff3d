"""The engines of a run with the tokenizer that speaks their language: what one needs to ask a prompt."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pipeline.config import GenerateConfig, SamplingConfig
from pipeline.errors import AbortedError, ConfigError, DataError
from pipeline.events import EngineChanged
from pipeline.serving.client import Answer, connect
from pipeline.serving.pool import EnginePool
from pipeline.serving.records import PromptName
from pipeline.tokens import PromptTokenizer


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the engines can take."""

    vocab_size: int
    """Ids below this are known to tokenizer and model; any other would kill an SGLang server."""
    context_length: int | None
    """Longest prompt + answer in tokens; None when nobody told."""

    def room(self, prompt_tokens: int, wanted: int) -> int:
        """Longest answer to such a prompt, at most `wanted`. Raises DataError when there is no room for one token."""
        if self.context_length is None:
            return wanted
        left = self.context_length - prompt_tokens
        if left < 1:
            raise DataError(f"the prompt has {prompt_tokens:,} tokens, and the context is {self.context_length:,}")
        return min(wanted, left)


class Engines:
    """`prepare` first. After `take_back` no request is sent any more."""

    tokenizer: PromptTokenizer
    limits: Limits

    def __init__(self, config: GenerateConfig, *, on_change: Callable[[EngineChanged], None]) -> None:
        """Raises ConfigError when the run has no engine. Nothing is sent yet."""
        if not config.engines:
            raise ConfigError("the run has no engine to ask")
        self._config = config
        self._pool = EnginePool(
            [connect(ref, timeout_s=config.request_timeout_s) for ref in config.engines], on_change=on_change
        )
        self._taken_back = False

    @property
    def waiting_for(self) -> str:
        return self._pool.waiting_for

    async def prepare(self) -> None:
        """Load the tokenizer and wait until an engine answers. Raises DataError for a broken tokenizer or template."""
        config = self._config
        loading = asyncio.to_thread(
            PromptTokenizer.load, Path(config.tokenizer), config.chat_template, config.chat_template_kwargs
        )
        self.tokenizer, info = await asyncio.gather(loading, self._pool.model_info())
        self.limits = Limits(
            vocab_size=min(self.tokenizer.vocab_size, info.vocab_size or self.tokenizer.vocab_size),
            context_length=config.context_length or info.context_length,
        )

    async def generate(
        self, ids: list[int], sampling: SamplingConfig, *, rid: str, seed: int, prompt: PromptName
    ) -> tuple[Answer, str]:
        """An answer and the engine that gave it. Raises what the pool raises."""
        if self._taken_back:
            raise AbortedError("the run is being stopped")
        return await self._pool.generate(ids, sampling, rid=rid, seed=seed, prompt=prompt)

    async def take_back(self) -> None:
        """End everything in flight with AbortedError, on the engines too."""
        self._taken_back = True
        await self._pool.abort_all()

    async def flush_captures(self) -> list[str]:
        """Have the engines write the hidden states that they kept; what went wrong with it."""
        return await self._pool.flush_captures()

    async def close(self) -> None:
        await self._pool.close()
