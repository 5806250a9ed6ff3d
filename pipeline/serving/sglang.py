"""SGLang's native API: token ids in, token ids out, nothing re-tokenized. The embedded engine speaks it too."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.config import SamplingConfig
from pipeline.errors import AbortedError, EngineUnavailableError
from pipeline.serving.base import ABORT_S, HEALTH_S, EngineClient, validate_ids
from pipeline.serving.records import Answer, EngineLoads, ModelInfo, Partial, PromptName
from pipeline.serving.transport import NotFoundError, quietly, refusal

FLUSH_S = 60.0
"""Longest wait until an engine has written what it captured: some hundred megabytes at most."""


class SglangClient(EngineClient):
    _captures = False
    """Whether the engine keeps hidden states, as it last told; SGLang itself would refuse to be told a prompt's name."""

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
        validate_ids(input_ids, self.vocab_size)
        body: dict[str, Any] = {"input_ids": list(input_ids), "sampling_params": sampling_params(sampling, seed)}
        if prompt is not None and self._captures:
            body["capture"] = {"dataset": prompt.dataset, "name": prompt.key}
        with self._sending(rid) as wire_id:
            body["rid"] = wire_id
            started = time.perf_counter()
            if on_partial is None:
                raw, first = await self._transport.post("/generate", body, timeout_s=self._timeout_s), None
            else:
                raw, first = await self._streamed(body, on_partial)
            return self._answer(raw, latency_s=time.perf_counter() - started, first_at=first and first - started)

    async def _streamed(self, body: dict[str, Any], on_partial: Callable[[Partial], None]) -> tuple[Any, float | None]:
        """The last event, which holds the whole answer, and the moment of the first token."""
        last, first = None, None
        async for last in self._transport.events("/generate", body | {"stream": True}, timeout_s=self._timeout_s):
            if not isinstance(last, Mapping) or "error" in last:
                break
            ids = tuple(last.get("output_ids") or ())
            if ids and first is None:
                first = time.perf_counter()
            if last["meta_info"]["finish_reason"] is None:
                on_partial(Partial(output_ids=ids, text=last["text"]))
        return last, first

    def _answer(self, raw: Any, *, latency_s: float, first_at: float | None) -> Answer:  # noqa: ANN401  (any JSON value)
        if not isinstance(raw, Mapping) or "meta_info" not in raw or "output_ids" not in raw:
            raise EngineUnavailableError(f"{self.name}: /generate answered without output_ids; is this an SGLang server?")
        meta: dict[str, Any] = raw["meta_info"]
        finish = meta.get("finish_reason") or {"type": "abort", "message": "the answer has no finish reason"}
        if finish["type"] == "abort":
            message = f"{self.name}: {finish.get('message') or 'the request was aborted'}"
            raise refusal(finish["status_code"], message) if finish.get("status_code") else AbortedError(message)
        return Answer(
            output_ids=tuple(raw["output_ids"]),
            text=raw.get("text") or "",
            finish_reason=finish["type"],
            prompt_tokens=int(meta["prompt_tokens"]),
            completion_tokens=int(meta["completion_tokens"]),
            latency_s=latency_s,
            first_token_s=meta.get("first_token_latency") if first_at is None else first_at,
            meta=meta,
        )

    async def abort(self, rid: str | None = None) -> None:
        mine = [wire_id for wire_id, caller in self._sent.items() if rid in (None, caller)]
        aborts = (self._transport.post("/abort_request", {"rid": wire_id}, timeout_s=ABORT_S) for wire_id in mine)
        await asyncio.gather(*(quietly(abort, timeout_s=ABORT_S) for abort in aborts))

    async def model_info(self) -> ModelInfo:
        model, server = await asyncio.gather(self._told("/model_info", "/get_model_info"), self._server_info())
        vocab_size = model.get("vocab_size") or server.get("vocab_size")
        self.vocab_size = self.vocab_size or vocab_size
        return ModelInfo(
            model_path=str(model.get("model_path", "")),
            context_length=_context_length(server),
            vocab_size=vocab_size,
            version=str(server.get("version", "")),
        )

    async def loads(self) -> EngineLoads:
        server = await self._server_info()
        state = (server.get("internal_states") or [{}])[0]
        try:
            told = await self._transport.get("/v1/loads?include=all", timeout_s=HEALTH_S)
        except NotFoundError:
            # Older servers tell their throughput in /server_info alone.
            told = {}
        ranks = told.get("loads") or [told] if isinstance(told, Mapping) else [{}]
        speculative = [rank["speculative"].get("accept_length") for rank in ranks if rank.get("speculative")]
        running, waiting = (sum(int(rank.get(f"num_{what}_reqs") or 0) for rank in ranks) for what in ("running", "waiting"))
        throughput = sum(float(rank.get("gen_throughput") or 0.0) for rank in ranks)
        throughput = throughput or float(state.get("last_gen_throughput") or 0.0)
        return EngineLoads(
            running=running,
            waiting=waiting,
            # SGLang's number is that of its last batches, however long ago.
            gen_throughput=throughput if running or waiting or not told else 0.0,
            accept_length=speculative[0] if speculative else state.get("avg_spec_accept_length"),
            server_info=server,
        )

    async def flush_capture(self) -> str:
        if not self._captures:
            return ""
        told = await self._transport.post("/flush_capture", {}, timeout_s=FLUSH_S)
        return str(told["off"] or "")

    async def _generate_one_token(self) -> None:
        await self._transport.get("/health_generate", timeout_s=self._probe_timeout_s)

    async def _server_info(self) -> dict[str, Any]:
        server = await self._told("/server_info", "/get_server_info")
        self._captures = bool(server.get("capture"))
        return server

    async def _told(self, path: str, older: str) -> dict[str, Any]:
        try:
            told = await self._transport.get(path, timeout_s=HEALTH_S)
        except NotFoundError:
            told = await self._transport.get(older, timeout_s=HEALTH_S)
        return told if isinstance(told, dict) else {}


def sampling_params(sampling: SamplingConfig, seed: int) -> dict[str, Any]:
    """SGLang's names. Keys that it does not know are refused, so only these are sent."""
    return {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "max_new_tokens": sampling.max_new_tokens,
        "stop_token_ids": list(sampling.stop_token_ids),
        "ignore_eos": sampling.ignore_eos,
        "sampling_seed": seed,
    }


def _context_length(server: Mapping[str, Any]) -> int | None:
    """The tightest of the limits that a server tells: its model's context, its longest input, its whole cache."""
    told = (server.get(key) for key in ("context_length", "max_req_input_len", "max_total_num_tokens"))
    return min((int(limit) for limit in told if limit), default=None)
