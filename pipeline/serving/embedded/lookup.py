"""Drafts without a drafter: what followed the last time that the same words stood here, in the prompt or in the answer."""

from collections.abc import Sequence

from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.job import Job
from pipeline.serving.embedded.runner import HiddenStates

LONGEST = 8
"""Tokens that are compared. A longer match is found just as well by its last 8, the newest place of them being taken."""


class NgramIndex:
    """Where each run of 1 … LONGEST tokens ended last."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self._after: dict[tuple[int, ...], int] = {}
        """Run of tokens → place of the token after it."""

    def extend(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            place = len(self.tokens)
            for length in range(1, min(LONGEST, place) + 1):
                self._after[tuple(self.tokens[place - length :])] = place
            self.tokens.append(token)

    def continuation(self, count: int) -> list[int]:
        """Up to `count` tokens that followed the longest run which the text ends with and which stood before."""
        for length in range(min(LONGEST, len(self.tokens)), 0, -1):
            place = self._after.get(tuple(self.tokens[-length:]))
            if place is not None:
                return self.tokens[place : place + count]
        return []


class PromptLookup:
    """A draft source that reads tokens only."""

    feature_layers: tuple[int, ...] = ()

    def __init__(self, slots: int, guesses: int) -> None:
        """`guesses`: tokens of a draft at most."""
        self._indexes = [NgramIndex() for _ in range(slots)]
        self.guesses = guesses

    def read(self, slot: int, tokens: Sequence[int], states: HiddenStates | None) -> None:
        """Nothing to do: `propose` sees the jobs' tokens."""

    def propose(self, jobs: Sequence[Job]) -> list[Draft]:
        return [self._draft(index, job) for index, job in zip(self._indexes, jobs, strict=False)]

    def _draft(self, index: NgramIndex, job: Job) -> Draft:
        known, prompt = len(index.tokens), len(job.input_ids)
        index.extend(job.input_ids[known:])
        index.extend(job.output_ids[max(0, known - prompt) :])
        return Draft((job.output_ids[-1], *index.continuation(self.guesses)))

    def move(self, source: int, target: int) -> None:
        self._indexes[target], self._indexes[source] = self._indexes[source], NgramIndex()

    def clear(self, slot: int) -> None:
        self._indexes[slot] = NgramIndex()
