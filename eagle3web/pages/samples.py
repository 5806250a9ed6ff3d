"""A sample answer as the page shows it: thinking apart from the answer, everything untrusted."""

from dataclasses import dataclass
from typing import Any

from eagle3web.models import Event
from eagle3web.text import cut, visible

LIMIT = 4000
THINK_END = "</think>"


@dataclass(frozen=True, kw_only=True)
class ShownSample:
    dataset: str
    prompt_id: str
    prompt: str
    thinking: str
    """Up to and with the mark that ends it; empty for a model that does not think aloud."""
    answer: str
    completion_tokens: int
    finish_reason: str
    engine: str
    latency_s: float | None

    @property
    def truncated(self) -> bool:
        return self.finish_reason == "length"


def shown_sample(row: Event) -> ShownSample:
    """From a sample_logged event. Fields of a newer pipeline that are missing or odd show as nothing."""
    said: dict[str, Any] = row.payload
    answer = _text(said, "answer")
    thinking, rest = thinking_apart(answer)
    latency = said.get("latency_s")
    tokens = said.get("completion_tokens")
    return ShownSample(
        dataset=_text(said, "dataset"),
        prompt_id=_text(said, "prompt_id"),
        prompt=_text(said, "prompt"),
        thinking=thinking,
        answer=rest,
        completion_tokens=tokens if isinstance(tokens, int) else 0,
        finish_reason=_text(said, "finish_reason"),
        engine=_text(said, "engine"),
        latency_s=latency if isinstance(latency, (int, float)) else None,
    )


def thinking_apart(answer: str) -> tuple[str, str]:
    """What a model thought aloud, up to and with the mark that ends it, and its answer.

    Either may be empty: a model that does not think aloud only answers, and one that was cut off may only have thought.
    """
    thinking, mark, rest = answer.partition(THINK_END)
    if mark:
        return thinking + mark, rest.strip("\n")
    return (answer, "") if "<think>" in answer[:20] else ("", answer)


def _text(said: dict[str, Any], name: str) -> str:
    return visible(cut(str(said.get(name, "")), LIMIT)[0])
