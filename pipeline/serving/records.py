"""What an inference server tells: an answer, its health, its model, its load."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PromptName:
    """Which prompt a request answers, for engines that keep the hidden states of their answers."""

    dataset: str
    key: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One finished answer."""

    output_ids: tuple[int, ...]
    """Completion tokens as the engine sampled them, the stop token included; empty when the engine returns text alone."""
    text: str
    finish_reason: str
    """stop | length."""
    prompt_tokens: int
    completion_tokens: int
    latency_s: float
    """From sending the request to having its answer, as the client saw it."""
    first_token_s: float | None
    """From sending to the first token; None when neither the stream nor the engine told."""
    meta: dict[str, Any]
    """The engine's own account (SGLang's `meta_info`), both old and new names of the speculative counts included."""


@dataclass(frozen=True, kw_only=True)
class Partial:
    """An answer so far: cumulative, never a delta."""

    output_ids: tuple[int, ...]
    text: str


@dataclass(frozen=True, kw_only=True)
class EngineHealth:
    """What a probe found."""

    state: str
    """ok | starting (HTTP 503) | down (no connection) | hung (connected, and generates nothing)."""
    detail: str = ""
    latency_s: float = 0.0

    @property
    def ok(self) -> bool:
        return self.state == "ok"


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    model_path: str
    context_length: int | None = None
    """Longest prompt + answer, in tokens."""
    vocab_size: int | None = None
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class EngineLoads:
    """The engine's load now, summed over its data-parallel ranks."""

    running: int
    waiting: int
    gen_throughput: float
    """Completion tokens a second, all requests together."""
    accept_length: float | None = None
    """Tokens a verify step; None without a drafter."""
    server_info: dict[str, Any] = field(default_factory=dict)
