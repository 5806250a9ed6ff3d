"""Whether a server that failed is started again, and when. Pure: moments are handed in."""

from dataclasses import dataclass

from pipeline.serve.config import RestartPolicy


@dataclass(frozen=True)
class Verdict:
    """`pause_s` None: no more."""

    pause_s: float | None
    failures: int
    """In a row, this one among them."""


class Restarts:
    def __init__(self, policy: RestartPolicy) -> None:
        self._policy = policy
        self._failures = 0

    def after_failure(self, *, ready_for_s: float) -> Verdict:
        """`ready_for_s`: how long the server answered before; 0 for one that never did."""
        if ready_for_s >= self._policy.steady_s:
            self._failures = 0
        self._failures += 1
        if self._policy.when == "never" or self._failures > self._policy.most:
            return Verdict(None, self._failures)
        pause = self._policy.first_s * 2.0 ** (self._failures - 1)
        return Verdict(min(pause, self._policy.longest_s), self._failures)
