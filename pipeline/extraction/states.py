"""What extraction asks of a target: its hidden states for documents, and its most likely tokens from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class States:
    """Of one document of T tokens, on the target's device, in the dtype that it computes in."""

    features: Tensor
    """[T, features · H]."""
    last_hidden: Tensor
    """[T, H], after the final norm."""


class Target(Protocol):
    on_layer: Callable[[], None]
    """Called again and again while it reads; what it raises ends the reading."""

    def read(self, documents: Sequence[Tensor]) -> list[States]:
        """One forward over documents of int64 [T] ids each; none sees another, nor any padding."""

    def best_tokens(self, last_hidden: Tensor) -> Tensor:
        """The most likely next token at each position, int64 [rows]. last_hidden: [rows, H]."""
