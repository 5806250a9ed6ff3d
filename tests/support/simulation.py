"""An engine in simulated time: slots that each write tokens at one speed. Runs a generation plan of hours in milliseconds."""

import heapq
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.admission import Quota


@dataclass(frozen=True, kw_only=True)
class Outcome:
    wall_s: float
    idle: float
    """Share of slot time in which no answer was written."""


def long_tailed(rng: random.Random, count: int, *, mean: float, sigma: float, cap: int) -> list[int]:
    """Answer lengths from a log-normal distribution, cut at `cap` as max_new_tokens does it."""
    return [max(1, min(cap, round(rng.lognormvariate(math.log(mean) - sigma**2 / 2, sigma)))) for _ in range(count)]


class SimulatedEngine:
    def __init__(
        self, *, slots: int, tokens_per_s: float = 30.0, jitter: float = 0.0, crowding: float = 0.0, rng: random.Random
    ) -> None:
        """`jitter` spreads the speed of single answers (a log-normal sigma), as engines of different kinds would;
        `crowding` 1 halves the speed of all when all slots are taken.
        """
        self._slots = slots
        self._speed = tokens_per_s
        self._jitter = jitter
        self._crowding = crowding
        self._rng = rng

    def run(self, quotas: Sequence[Quota], lengths: Sequence[Sequence[int]], offer: Callable[[], Sequence[int]]) -> Outcome:
        """Answer prompts until no dataset wants more. `lengths[d][i]` is the length of dataset d's i-th answer; `offer()`
        gives the datasets that may take a free slot, first come first served.
        """
        now, busy, sent = 0.0, 0.0, [0] * len(quotas)
        ends: list[tuple[float, str, int, int]] = []
        while True:
            taken = True
            while taken and len(ends) < self._slots:
                taken = False
                for d in offer():
                    if sent[d] < len(lengths[d]) and quotas[d].admits(now):
                        tokens, rid = lengths[d][sent[d]], f"{d}-{sent[d]}"
                        sent[d] += 1
                        quotas[d].start(rid, now)
                        seconds = tokens / self._tokens_per_s(len(ends))
                        busy += seconds
                        heapq.heappush(ends, (now + seconds, rid, d, tokens))
                        taken = True
                        break
            if not ends:
                return Outcome(wall_s=now, idle=1 - busy / (now * self._slots) if now else 0.0)
            now, rid, d, tokens = heapq.heappop(ends)
            quotas[d].finish(rid, tokens, now)

    def _tokens_per_s(self, running: int) -> float:
        crowded = 1 + self._crowding * running / self._slots
        return self._speed / crowded * math.exp(self._rng.gauss(0, self._jitter) if self._jitter else 0.0)
