"""One engine of a pool: what is known about it, and how many requests it takes at once.

A 503 says exactly how many requests the engine had accepted, so the limit falls to that number at once; each answer then
raises it by its share of one round (additive increase), so that an engine with more room is used again.
"""

import asyncio
import math
import random
from dataclasses import dataclass, field

from pipeline.serving.base import EngineClient

FIRST_BACKOFF_S = 0.1
LONGEST_REFUSAL_S = 2.0
"""Longest pause after a 503: asking again costs next to nothing, and an engine that starts should not wait for work."""
CALM_S = 5.0
"""A lane without a 503 for so long, and with room to spare, is no longer called busy."""


@dataclass(eq=False)
class Lane:
    client: EngineClient
    state: str = "ok"
    """ok | busy | down, as EngineChanged has it."""
    reason: str = ""
    """Why it is down or busy."""
    in_flight: int = 0
    limit: float = math.inf
    scopes: set[asyncio.Timeout] = field(default_factory=set)
    """One for each request without an answer; rescheduling it takes the request back."""
    last_sign: float = -math.inf
    """When the engine last proved that it generates, or got its first request after a rest."""
    last_told: float = -math.inf
    _resume_at: float = -math.inf
    _last_refusal: float = -math.inf
    _refusals: int = 0
    """503 in a row, without an answer between."""

    @property
    def name(self) -> str:
        return self.client.name

    @property
    def resume_at(self) -> float:
        """Nothing is sent before this time."""
        return self._resume_at

    def has_room(self, now: float) -> bool:
        return self.state != "down" and now >= self._resume_at and self.in_flight < self.limit

    def answered(self, now: float) -> None:
        self._refusals = 0
        self.last_sign = now
        self.limit += 1 / self.limit

    def refused(self, now: float) -> None:
        """A 503. Called when the refused request no longer counts as in flight."""
        self.limit = max(1, self.in_flight)
        self._last_refusal = now
        if now < self._resume_at:
            return
        self._refusals += 1
        # With others in flight, the next of their answers is the right moment to send again; else only time can tell.
        if self._refusals > 1 or not self.in_flight:
            self._resume_at = now + backoff(self._refusals, longest_s=LONGEST_REFUSAL_S)

    def is_calm(self, now: float, waiting: int) -> bool:
        """Whether the limit no longer holds anything back."""
        return self.limit > self.in_flight + waiting and now - self._last_refusal > CALM_S

    def recover(self, now: float) -> None:
        """Forget its troubles."""
        self.state, self.reason, self.limit, self.last_sign, self._refusals = "ok", "", math.inf, now, 0

    def recall(self, now: float) -> None:
        """Take all requests back from an engine that will not answer them."""
        for scope in self.scopes:
            take_back(scope, now)


def take_back(scope: asyncio.Timeout, now: float) -> None:
    """End what runs inside a timeout scope, unless it is ending already."""
    if not scope.expired():
        scope.reschedule(now)


def backoff(tries: int, *, longest_s: float = 10.0) -> float:
    """Seconds before the next try: doubled each time, within ±25 % so that many clients do not come back together."""
    doubled = FIRST_BACKOFF_S * 2.0 ** min(tries - 1, 16)
    return float(min(doubled, longest_s) * random.uniform(0.75, 1.25))  # noqa: S311  (spreads load, guards nothing)
