"""What the scheduler asks of a model: the seam between batching and arithmetic.

Requests that decode occupy the slots 0 … n−1; one that is being prefilled sits in slot n. So a step works on the front of the
cache, without gathering.
"""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor


class Runner(Protocol):
    @property
    def slots(self) -> int:
        """Requests that fit at once."""

    @property
    def context_length(self) -> int:
        """Tokens that fit in one slot, prompt and answer together."""

    @property
    def vocab_size(self) -> int: ...

    def extend(self, slot: int, ids: Sequence[int]) -> Tensor:
        """Read more of a prompt; returns the logits after its last id, [vocab]."""

    def decode(self, tokens: Sequence[int]) -> Tensor:
        """One step for the first len(tokens) slots, each with its newest token; returns logits [batch, vocab]."""

    def move(self, source: int, target: int) -> None:
        """Carry a request over to a free slot."""

    def clear(self, slot: int) -> None:
        """Free a slot."""
