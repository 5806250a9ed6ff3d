"""How far a drafter looks ahead."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class DraftShape:
    """How far drafts look: SGLang's `speculative_num_steps`, `_eagle_topk` and `_num_draft_tokens`."""

    steps: int = 3
    topk: int = 1
    draft_tokens: int = 4
    """Tokens that one verification reads, the newest accepted one included."""

    def __str__(self) -> str:
        return f"{self.steps}/{self.topk}/{self.draft_tokens}"
