"""How far a drafter looks ahead."""

from dataclasses import dataclass

from pipeline.errors import ConfigError

MOST_STEPS = 64
MOST_TOKENS = 1024


@dataclass(frozen=True, kw_only=True)
class DraftShape:
    """How far drafts look: SGLang's `speculative_num_steps`, `_eagle_topk` and `_num_draft_tokens`."""

    steps: int = 3
    topk: int = 1
    draft_tokens: int = 4
    """Tokens that one verification reads, the newest accepted one included."""

    def __post_init__(self) -> None:
        if min(self.steps, self.topk) < 1 or self.draft_tokens < 2:
            raise ConfigError(f"draft shape {self}: steps and topk are at least 1, draft tokens at least 2")
        if max(self.steps, self.topk) > MOST_STEPS or self.draft_tokens > MOST_TOKENS:
            raise ConfigError(f"draft shape {self}: at most {MOST_STEPS} steps and topk, and {MOST_TOKENS} draft tokens")

    def __str__(self) -> str:
        return f"{self.steps}/{self.topk}/{self.draft_tokens}"
