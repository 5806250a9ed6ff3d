"""The OpenAI-compatible `/v1/completions`, with token-id prompts: the second protocol, for servers other than SGLang.

Token ids come back where the server can return them (vLLM's `return_token_ids`); elsewhere `output_ids` is empty and the
caller has the text alone.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.config import EngineRef, SamplingConfig
from pipeline.errors import AbortedError, EngineUnavailableError
from pipeline.serving.base import HEALTH_S, EngineClient, validate_ids
from pipeline.serving.records import Answer, EngineLoads, ModelInfo, Partial, PromptName


class CompletionsClient(EngineClient):
    def __init__(
        self, ref: EngineRef, *, timeout_s: float, vocab_size: int | None = None, probe_timeout_s: float = 30.0
    ) -> None:
        super().__init__(ref, timeout_s=timeout_s, vocab_size=vocab_size, probe_timeout_s=probe_timeout_s)
        self._scopes: dict[asyncio.Timeout, str] = {}
        """One for each request without an answer: this protocol has no abort, so its connection is closed instead."""

    async def generate(
        self,
        input_ids: Sequence[int],
        sampling: SamplingConfig,
        *,
        rid: str,
        seed: int,
        on_partial: Callable[[Partial], None] | None = None,
        prompt: PromptName | None = None,
    ) -> Answer:
        """Never streamed: this protocol's deltas carry no token ids, so `on_partial` is not called."""
        validate_ids(input_ids, self.vocab_size)
        body = completion_request(self.ref.model, input_ids, sampling, seed)
        started = time.perf_counter()
        try:
            async with asyncio.timeout(None) as scope:
                self._scopes[scope] = rid
                raw = await self._transport.post("/v1/completions", body, timeout_s=self._timeout_s)
        except TimeoutError as error:
            raise AbortedError(f"{self.name}: the request was aborted") from error
        finally:
            self._scopes.pop(scope, None)
        return self._answer(raw, latency_s=time.perf_counter() - started)

    def _answer(self, raw: Any, *, latency_s: float) -> Answer:  # noqa: ANN401  (any JSON value)
        if not isinstance(raw, Mapping) or not raw.get("choices"):
            raise EngineUnavailableError(f"{self.name}: /v1/completions answered without choices")
        choice, usage = raw["choices"][0], raw.get("usage") or {}
        reason = str(choice.get("finish_reason"))
        if reason not in ("stop", "length"):
            raise AbortedError(f"{self.name}: the answer ended with {reason!r}")
        ids = tuple(choice.get("token_ids") or choice.get("response_token_ids") or ())
        return Answer(
            output_ids=ids,
            text=choice.get("text") or "",
            finish_reason=reason,
            prompt_tokens=int(usage.get("prompt_tokens", 0)),
            completion_tokens=int(usage.get("completion_tokens", len(ids))),
            latency_s=latency_s,
            first_token_s=None,
            meta={"id": raw.get("id"), "usage": usage, "stop_reason": choice.get("stop_reason")},
        )

    async def abort(self, rid: str | None = None) -> None:
        for scope in [scope for scope, caller in self._scopes.items() if rid in (None, caller)]:
            if not scope.expired():
                scope.reschedule(asyncio.get_running_loop().time())

    async def model_info(self) -> ModelInfo:
        told = await self._transport.get("/v1/models", timeout_s=HEALTH_S)
        models = told.get("data") or [{}] if isinstance(told, Mapping) else [{}]
        served = next((model for model in models if model.get("id") == self.ref.model), models[0])
        return ModelInfo(
            model_path=str(served.get("id", "")), context_length=served.get("max_model_len"), vocab_size=self.vocab_size
        )

    async def loads(self) -> EngineLoads:
        """What this client itself has sent: the protocol tells no more."""
        return EngineLoads(running=len(self._scopes), waiting=0, gen_throughput=0.0)

    async def _generate_one_token(self) -> None:
        body = completion_request(self.ref.model, (0,), SamplingConfig(max_new_tokens=1), 0)
        await self._transport.post("/v1/completions", body, timeout_s=self._probe_timeout_s)


def completion_request(model: str, input_ids: Sequence[int], sampling: SamplingConfig, seed: int) -> dict[str, Any]:
    """The body, with the extensions that vLLM and SGLang share; fields at their defaults stay out for stricter servers."""
    body: dict[str, Any] = {
        "model": model,
        "prompt": list(input_ids),
        "max_tokens": sampling.max_new_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": seed,
        "return_token_ids": True,
    }
    plain = SamplingConfig()
    extensions: dict[str, Any] = {
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "ignore_eos": sampling.ignore_eos,
        "stop_token_ids": list(sampling.stop_token_ids),
    }
    changed = {key for key in extensions if getattr(sampling, key) != getattr(plain, key)}
    return body | {key: value for key, value in extensions.items() if key in changed}
