"""The token view: one answer, each token with how deep in its draft it stood. All of its text is untrusted."""

from collections import Counter
from dataclasses import dataclass

from eagle3web.models import DraftedAnswer
from eagle3web.text import visible

DEEPEST = 4
"""Shades of the legend; what is deeper takes the last one, and says its position."""
WORDS = ("chosen by the target", "first draft token, accepted", "second", "third", "fourth or deeper")


@dataclass(frozen=True)
class ShownToken:
    text: str
    depth: int

    @property
    def shade(self) -> int:
        return min(self.depth, DEEPEST)

    @property
    def title(self) -> str:
        return f"draft position {self.depth}, accepted" if self.depth else "chosen by the target"


@dataclass(frozen=True)
class Position:
    depth: int
    accepted: int


@dataclass(frozen=True, kw_only=True)
class ShownAnswer:
    answer: DraftedAnswer
    tokens: list[ShownToken]

    @property
    def chosen(self) -> int:
        """Tokens that the target chose itself: one for each verification, and the first of all."""
        return sum(token.depth == 0 for token in self.tokens)

    @property
    def accepted(self) -> int:
        return len(self.tokens) - self.chosen

    @property
    def share(self) -> float | None:
        return self.accepted / len(self.tokens) if self.tokens else None

    @property
    def per_choice(self) -> float | None:
        return len(self.tokens) / self.chosen if self.chosen else None

    @property
    def positions(self) -> list[Position]:
        counts = Counter(token.depth for token in self.tokens if token.depth)
        return [Position(depth, counts[depth]) for depth in sorted(counts)][:16]

    @property
    def label(self) -> str:
        return f"An answer of {len(self.tokens)} tokens, {self.accepted} of them drafted and accepted"


def shown_answer(answer: DraftedAnswer) -> ShownAnswer:
    """Pieces and depths from an event; what is missing or odd counts as chosen by the target."""
    depths = [depth if isinstance(depth, int) and depth >= 0 else 0 for depth in answer.depths]
    depths += [0] * (len(answer.pieces) - len(depths))
    pairs = zip(answer.pieces, depths, strict=False)
    return ShownAnswer(answer=answer, tokens=[ShownToken(visible(str(piece)), depth) for piece, depth in pairs])
