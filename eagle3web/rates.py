"""How often somebody may ask: a bucket of tokens for each, filled at a steady rate, in the memory of this process.

In memory, so that a limit costs microseconds and cannot be away; several web processes multiply it, which is no harm: it keeps
a program that runs wild from taking the site from everybody else, and a guesser slow.
"""

import threading
import time

MOST_KEYS = 20_000
"""Buckets that are kept; full ones are forgotten when there are more."""


class Rate:
    """Safe for threads."""

    def __init__(self, per_minute: int) -> None:
        self._size = float(per_minute)
        self._per_s = per_minute / 60
        self._buckets: dict[str, tuple[float, float]] = {}
        """Key → tokens at a moment."""
        self._lock = threading.Lock()

    def wait_s(self, key: str) -> float:
        """Take one token; 0, or how many seconds until there is one."""
        now = time.monotonic()
        with self._lock:
            left, at = self._buckets.get(key, (self._size, now))
            left = min(self._size, left + (now - at) * self._per_s)
            if left < 1:
                return (1 - left) / self._per_s
            self._buckets[key] = (left - 1, now)
            if len(self._buckets) > MOST_KEYS:
                self._forget(now)
            return 0.0

    def _forget(self, now: float) -> None:
        """Drop the full buckets, or all of them where hardly any is: memory is bounded, whatever keys somebody makes up."""
        kept = {key: (left, at) for key, (left, at) in self._buckets.items() if left + (now - at) * self._per_s < self._size}
        self._buckets = kept if len(kept) <= MOST_KEYS // 2 else {}
