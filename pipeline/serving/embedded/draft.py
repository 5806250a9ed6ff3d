"""What a verification reads of one request: its newest token and, after it, guesses of what comes next.

chain   newest → a → b → c            tree    newest ┬→ a ┬→ c
                                                     │    └→ d
                                                     └→ b
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Draft:
    """n nodes; node 0 is the newest accepted token, which the target has not read yet."""

    tokens: tuple[int, ...]
    parents: tuple[int, ...] | None = None
    """Of each node the one it follows, which stands before it; −1 for node 0. None for a chain."""

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def depths(self) -> Sequence[int]:
        """Steps from node 0."""
        if self.parents is None:
            return range(len(self.tokens))
        depths = [0]
        for parent in self.parents[1:]:
            depths.append(depths[parent] + 1)
        return depths

    @cached_property
    def children(self) -> list[dict[int, int]]:
        """Of each node the ones that follow it: token → node."""
        children: list[dict[int, int]] = [{} for _ in self.tokens]
        for node in range(1, len(self.tokens)):
            parent = node - 1 if self.parents is None else self.parents[node]
            children[parent].setdefault(self.tokens[node], node)
        return children

    def cut(self, *, nodes: int, depth: int) -> "Draft":
        """The part that fits: at most so many nodes, at most so many steps from node 0."""
        if len(self) <= nodes and self.depths[-1] <= depth and self.parents is None:
            return self
        if self.parents is None:
            return Draft(self.tokens[: min(nodes, depth + 1)])
        kept = [node for node, steps in enumerate(self.depths) if steps <= depth][:nodes]
        places = {node: place for place, node in enumerate(kept)} | {-1: -1}
        return Draft(tuple(self.tokens[node] for node in kept), tuple(places[self.parents[node]] for node in kept))
