"""Where drafts come from: the seam between the scheduler and whatever guesses."""

from collections.abc import Sequence
from typing import Protocol

from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.job import Job
from pipeline.serving.embedded.runner import HiddenStates


class DraftSource(Protocol):
    """Slots are the runner's: jobs that decode occupy 0 … n−1, one that is being prefilled slot n."""

    @property
    def feature_layers(self) -> tuple[int, ...]:
        """Layers of the target that it reads; empty for a source that only looks at tokens."""

    def read(self, slot: int, tokens: Sequence[int], states: HiddenStates | None) -> None:
        """The target has read some more tokens of a slot: their states, and of each the token after it.

        The last of `tokens` is so the newest one of the slot, which the target has not read. `states` may be None when the
        source reads no layers.
        """

    def propose(self, jobs: Sequence[Job]) -> list[Draft]:
        """A draft for each job (index = slot) that starts with its newest token; it may have no guesses."""

    def move(self, source: int, target: int) -> None:
        """Carry a request over to a free slot."""

    def clear(self, slot: int) -> None:
        """Free a slot."""
