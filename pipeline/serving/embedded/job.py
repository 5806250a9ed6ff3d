"""One prompt on its way through the engine."""

import time
from dataclasses import dataclass, field
from typing import Any

import torch

from pipeline.serving.embedded.draft_counts import DraftCounts
from pipeline.serving.embedded.requests import SamplingParams


@dataclass(eq=False)
class Job:
    """Written by the model thread; the HTTP side sets `abort_reason` and reads the rest."""

    rid: str
    input_ids: tuple[int, ...]
    sampling: SamplingParams
    generator: torch.Generator | None
    """Source of its random numbers; None for a greedy one."""
    stop_ids: frozenset[int]
    """Tokens that end the answer."""
    output_ids: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    """Of each output token, how many steps ahead it was drafted; 0 for the target's own."""
    drafts: DraftCounts = field(default_factory=DraftCounts)
    prefilled: int = 0
    """Tokens of the prompt that the model has read."""
    finish_reason: dict[str, Any] | None = None
    """SGLang's: {"type": "stop" | "length" | "abort", …}; None until the end."""
    abort_reason: str | None = None
    submitted: float = field(default_factory=time.perf_counter)
    started: float | None = None
    """When its prefill began."""
    first_token: float | None = None
    finished: float | None = None

    @property
    def reserved(self) -> int:
        """Tokens of cache that it may come to hold."""
        return len(self.input_ids) + self.sampling.max_new_tokens

    @property
    def read(self) -> int:
        """Tokens that the model has read once it decodes: all but the newest."""
        return len(self.input_ids) + len(self.output_ids) - 1

    @property
    def left(self) -> int:
        """Tokens that its answer may still get."""
        return self.sampling.max_new_tokens - len(self.output_ids)

    def take(self, token: int, now: float, depth: int = 0) -> None:
        """Add a token, drafted `depth` steps ahead, and end where it ends the answer."""
        self.output_ids.append(token)
        self.depths.append(depth)
        self.first_token = self.first_token or now
        if token in self.stop_ids:
            self.finish({"type": "stop", "matched": token}, now)
        elif len(self.output_ids) >= self.sampling.max_new_tokens:
            self.finish({"type": "length", "length": len(self.output_ids)}, now)

    def finish(self, reason: dict[str, Any], now: float) -> None:
        self.finish_reason = reason
        self.finished = now

    @property
    def text_ids(self) -> list[int]:
        """The tokens to show as text: without the one that ended the answer."""
        stopped = self.finish_reason is not None and self.finish_reason["type"] == "stop"
        return self.output_ids[:-1] if stopped else self.output_ids[:]

    def meta_info(self, *, depths: bool = False) -> dict[str, Any]:
        """SGLang's account of a request, and on demand `draft_depths`, one for each output token."""
        now = time.perf_counter()
        end, begin = self.finished or now, self.started or self.finished or now
        decoding = end - (self.first_token or end)
        return {
            "id": self.rid,
            "finish_reason": self.finish_reason,
            "prompt_tokens": len(self.input_ids),
            "completion_tokens": len(self.output_ids),
            "cached_tokens": 0,
            "weight_version": "default",
            "queue_time": begin - self.submitted,
            "e2e_latency": end - self.submitted,
            "first_token_latency": self.first_token and self.first_token - self.submitted,
            "decode_throughput": (len(self.output_ids) - 1) / decoding if decoding else None,
            **self.drafts.meta_info(len(self.output_ids)),
            **({"draft_depths": self.depths[:]} if depths else {}),
        }


def new_job(rid: str, input_ids: tuple[int, ...], sampling: SamplingParams, eos_ids: frozenset[int]) -> Job:
    generator = None
    if not sampling.is_greedy:
        generator = torch.Generator()
        if sampling.sampling_seed is None:
            generator.seed()
        else:
            generator.manual_seed(sampling.sampling_seed)
    stop_ids = frozenset() if sampling.ignore_eos else eos_ids | set(sampling.stop_token_ids)
    return Job(rid, input_ids, sampling, generator, stop_ids)
