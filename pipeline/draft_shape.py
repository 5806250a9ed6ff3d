"""How far a drafter looks ahead."""

import re
from dataclasses import dataclass

from pipeline.errors import ConfigError

_WRITTEN = re.compile(
    r"(?P<steps>[0-9]{1,4})(/(?P<topk>[0-9]{1,4})/(?P<tokens>[0-9]{1,5})(/(?P<confidence>[0-9]*\.?[0-9]+))?)?", re.ASCII
)

MOST_STEPS = 64
MOST_TOKENS = 1024


@dataclass(frozen=True, kw_only=True)
class DraftShape:
    """How far drafts look: SGLang's `speculative_num_steps`, `_eagle_topk` and `_num_draft_tokens`."""

    steps: int = 3
    topk: int = 1
    draft_tokens: int = 4
    """Tokens that one verification reads, the newest accepted one included."""
    confidence: float = 0.0
    """The embedded engine's own, for chains: no further guess once the drafter holds the chain for less likely than this."""

    def __post_init__(self) -> None:
        if min(self.steps, self.topk) < 1 or self.draft_tokens < 2:
            raise ConfigError(f"draft shape {self}: steps and topk are at least 1, draft tokens at least 2")
        if max(self.steps, self.topk) > MOST_STEPS or self.draft_tokens > MOST_TOKENS:
            raise ConfigError(f"draft shape {self}: at most {MOST_STEPS} steps and topk, and {MOST_TOKENS} draft tokens")

        if not 0 <= self.confidence < 1:
            raise ConfigError(f"draft shape {self}: the confidence is at least 0 and below 1")
        if self.confidence and self.topk > 1:
            raise ConfigError(f"draft shape {self}: a confidence is for chains, which have a topk of 1")

    @classmethod
    def parse(cls, text: str) -> "DraftShape":
        """`3/1/4` or `3/1/4/0.3`: steps, topk, draft tokens, confidence; `3` alone is a chain of three. Raises ConfigError."""
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise ConfigError(f"{text} is not STEPS/TOPK/TOKENS, such as 3/1/4")
        steps = int(match["steps"])
        topk, tokens = int(match["topk"] or 1), int(match["tokens"] or steps + 1)
        return cls(steps=steps, topk=topk, draft_tokens=tokens, confidence=float(match["confidence"] or 0))

    def __str__(self) -> str:
        return f"{self.steps}/{self.topk}/{self.draft_tokens}" + (f"/{self.confidence:g}" if self.confidence else "")
