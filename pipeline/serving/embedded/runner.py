"""What the scheduler asks of a model: the seam between batching and arithmetic.

Requests that decode occupy the slots 0 … n−1; one that is being prefilled sits in slot n. So a step works on the front of the
cache, without gathering.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from pipeline.errors import ConfigError
from pipeline.serving.embedded.draft import Draft


@dataclass(frozen=True)
class HiddenStates:
    """What a model thought about some tokens. T tokens, F feature layers, hidden size H, in the model's dtype."""

    features: Tensor
    """[T, F · H]: the inputs of the watched layers beside each other."""
    last: Tensor
    """[T, H]: the last layer's output, before the final norm."""

    def __getitem__(self, rows: slice | Tensor) -> "HiddenStates":
        return HiddenStates(self.features[rows], self.last[rows])

    @classmethod
    def cat(cls, parts: Sequence["HiddenStates"]) -> "HiddenStates":
        return cls(torch.cat([part.features for part in parts]), torch.cat([part.last for part in parts]))


def check_layers(layers: Sequence[int], count: int) -> tuple[int, ...]:
    """Raises ConfigError for a layer outside 0 … count − 1."""
    if any(not 0 <= layer < count for layer in layers):
        raise ConfigError(f"the target has layers 0 to {count - 1}, features of {list(layers)} were asked for")
    return tuple(layers)


class Runner(Protocol):
    states: HiddenStates | None
    """Of the tokens that the last forward read; None while no layers are watched."""

    @property
    def slots(self) -> int:
        """Requests that fit at once."""

    @property
    def context_length(self) -> int:
        """Tokens that fit in one slot, prompt and answer together."""

    @property
    def vocab_size(self) -> int: ...

    @property
    def hidden_size(self) -> int: ...

    @property
    def layers(self) -> int: ...

    @property
    def embedding(self) -> Tensor:
        """[vocab, H]."""

    def watch(self, layers: Sequence[int]) -> None:
        """Keep the inputs of these layers (transformers' `hidden_states[i]`) of each forward in `states`; none: keep nothing.

        Raises ConfigError for a layer that the model does not have.
        """

    def extend(self, slot: int, ids: Sequence[int]) -> Tensor:
        """Read more of a prompt; returns the logits after its last id, [vocab]."""

    def verify(self, drafts: Sequence[Draft]) -> Tensor:
        """One step: read the drafts of the first len(drafts) slots; returns logits of all nodes in turn, [nodes, vocab].

        A draft of one node is a plain step. The slots hold nothing of it until `keep` is called for each.
        """

    def keep(self, slot: int, nodes: Sequence[int]) -> None:
        """Let a slot hold these nodes of the draft that was verified last, ascending; the others are forgotten."""

    def move(self, source: int, target: int) -> None:
        """Carry a request over to a free slot."""

    def clear(self, slot: int) -> None:
        """Free a slot."""
