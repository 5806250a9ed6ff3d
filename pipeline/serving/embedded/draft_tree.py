"""A tree of guesses as a drafter grows it: the likeliest branches go on, the likeliest nodes are proposed.

A node's score is the log probability that the drafter gives to the whole way from the newest token to it. At each step the
`topk` nodes with the best scores are the frontier, and each of them gets its `topk` likeliest followers.
"""

from collections.abc import Sequence
from itertools import pairwise

from pipeline.serving.embedded.draft import Draft


class DraftTree:
    def __init__(self, newest: int) -> None:
        self._tokens = [newest]
        self._parents = [-1]
        self._scores = [0.0]
        self.frontier = [0]
        """Nodes that the drafter is asked about next."""

    @property
    def frontier_tokens(self) -> list[int]:
        return [self._tokens[node] for node in self.frontier]

    def branch(self, tokens: Sequence[Sequence[int]], log_probabilities: Sequence[Sequence[float]]) -> list[int]:
        """Add the followers of each frontier node; as many of the new nodes as one of them has are the next frontier.

        Returns of each new frontier node the place of its parent in the old frontier.
        """
        first, places = len(self._tokens), []
        for place, (parent, some, chances) in enumerate(zip(self.frontier, tokens, log_probabilities, strict=True)):
            self._tokens += some
            self._parents += [parent] * len(some)
            self._scores += [self._scores[parent] + chance for chance in chances]
            places += [place] * len(some)
        self.frontier = self._best(range(first, len(self._tokens)), len(tokens[0]))
        return [places[node - first] for node in self.frontier]

    def draft(self, guesses: int) -> Draft:
        """The nodes with the best scores. A node never scores better than its parent, so parents are among them."""
        nodes = [0, *self._best(range(1, len(self._tokens)), guesses)]
        places = {node: place for place, node in enumerate(nodes)} | {-1: -1}
        parents = tuple(places[self._parents[node]] for node in nodes)
        tokens = tuple(self._tokens[node] for node in nodes)
        is_chain = all(after == before + 1 for before, after in pairwise(parents))
        return Draft(tokens) if is_chain else Draft(tokens, parents)

    def _best(self, nodes: Sequence[int], count: int) -> list[int]:
        """In the order of their numbers; of equals the earlier ones, which a parent is among its followers."""
        return sorted(sorted(nodes, key=lambda node: -self._scores[node])[:count])
