"""Which guesses of a draft are what the target itself says.

The target's choice at each node decides: a child with the same token is accepted and asked next, otherwise the choice is the
target's own token and the end. With temperature the choice is a draw from the target's distribution p. That is rejection
sampling for guesses made without chance: guess x is accepted with probability p(x), and what takes its place has the
distribution p without the guesses. So answers have exactly the target's distribution, and, as each token costs one random
number either way, equal seeds give equal answers with and without drafts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from pipeline.serving.embedded.draft import Draft


@dataclass
class Verdict:
    """What one verification adds to an answer: one token or more."""

    nodes: list[int] = field(default_factory=lambda: [0])
    """The nodes that the target's cache keeps: node 0 and what was accepted, as many as tokens."""
    tokens: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    """Of each token, how many steps ahead it was guessed; 0 for the target's own."""

    @property
    def correct(self) -> int:
        """Guesses that were right."""
        return sum(depth > 0 for depth in self.depths)


def judge(draft: Draft, choose: Callable[[int], int], stop_ids: frozenset[int]) -> Verdict:
    """`choose` gives the target's token after a node. The answer ends with a stop token, also inside the draft."""
    verdict = Verdict()
    node = 0
    while True:
        token = choose(node)
        child = draft.children[node].get(token)
        verdict.tokens.append(token)
        verdict.depths.append(0 if child is None else len(verdict.tokens))
        if child is None or token in stop_ids:
            return verdict
        verdict.nodes.append(child)
        node = child
