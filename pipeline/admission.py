"""When to send one more prompt, so that a token budget is met and not exceeded. Pure arithmetic: the clock is an argument.

An answer that was sent is kept, also when it ends after the budget was met. So a budget is held by not sending: admission
stops when `tokens done + expected tokens in flight ≥ budget`, and tops up as answers come in shorter than expected. Before
that point it slows down, so that even an unlucky rest stays within one answer or 0.5 % of the budget. The slots that this
leaves free go to the next dataset.
"""

import math
from collections.abc import Sequence
from typing import Literal

from pipeline.budget import Target
from pipeline.lengths import AnswerLengths, Outlook

OVERSHOOT = 0.005
"""Share of the budget that may be exceeded; one answer always may."""
SIGMAS = 5.0
"""Standard deviations of the answers in flight that must fit: five, since sums of a few long-tailed lengths are not normal."""
DOUBT = 0.1
"""Share of the expectation that must fit too: the estimate itself is uncertain, most of all early in a run."""
SPEED_MEMORY = 0.97
"""Weight of the past in the usual speed, at each answer: it follows engines that get faster as a run thins out."""

Order = Literal["sequential", "interleaved"]


class Quota:
    """One dataset's answers, done and in flight, against its target. `now` is any clock in seconds that never runs back."""

    def __init__(self, target: Target, lengths: AnswerLengths, *, prompts: int) -> None:
        self.target = target
        self.lengths = lengths
        self._prompts = max(1, prompts)
        self._started: dict[str, float] = {}
        self._recent_tokens = self._recent_seconds = 0.0

    @property
    def in_flight(self) -> int:
        return len(self._started)

    @property
    def reason(self) -> str | None:
        """Why nothing more is wanted, by what is done; None while something is."""
        return self.target.met_by(answers=self.lengths.answers, tokens=self.lengths.tokens)

    def start(self, rid: str, now: float) -> None:
        """A prompt is sent."""
        self._started[rid] = now

    def finish(self, rid: str, tokens: int, now: float) -> None:
        """Its answer is kept."""
        seconds = now - self._started.pop(rid)
        self._recent_tokens = self._recent_tokens * SPEED_MEMORY + tokens
        self._recent_seconds = self._recent_seconds * SPEED_MEMORY + seconds
        self.lengths.add(tokens, reach=seconds * self._speed)

    def drop(self, rid: str) -> None:
        """It gave no answer."""
        del self._started[rid]

    def outlook(self, now: float) -> Outlook:
        return self.lengths.outlook((now - started) * self._speed for started in self._started.values())

    def admits(self, now: float) -> bool:
        """Whether one more prompt should be sent."""
        target, done, running = self.target, self.lengths, self.in_flight
        if target.met_by(answers=done.answers + running, tokens=done.tokens) is not None:
            return False
        if target.tokens is None or running == 0:
            return True
        room = target.tokens - done.tokens
        if (running + 1) * done.cap <= room:
            return True
        return _fits(self.outlook(now), room=room, allowance=OVERSHOOT * target.tokens)

    def share(self) -> float:
        """Part of the target that is done or in flight, roughly: what `interleaved` keeps equal."""
        sent = self.lengths.answers + self.in_flight
        parts = [sent / self._prompts]
        if self.target.tokens:
            parts.append((self.lengths.tokens + self.in_flight * (self.lengths.mean or self.lengths.cap)) / self.target.tokens)
        if self.target.max_samples:
            parts.append(sent / self.target.max_samples)
        return max(parts)

    @property
    def _speed(self) -> float:
        """Usual tokens a second of one request; 0 until one is done, which takes every answer for a young one."""
        return self._recent_tokens / self._recent_seconds if self._recent_seconds else 0.0


def _fits(outlook: Outlook, *, room: float, allowance: float) -> bool:
    """Whether the answers in flight and one more will stay within `room` tokens plus what may be exceeded."""
    if outlook.running >= room:
        return False
    mean = outlook.running + outlook.fresh
    margin = DOUBT * mean + SIGMAS * math.sqrt(outlook.running_variance + outlook.fresh_variance)
    return mean + margin <= room + max(allowance, outlook.fresh)


def by_order(order: Order, quotas: Sequence[Quota]) -> Sequence[int]:
    """Positions of the datasets in the order in which they are offered a free slot."""
    if order == "sequential":
        return range(len(quotas))
    return sorted(range(len(quotas)), key=lambda i: quotas[i].share())
