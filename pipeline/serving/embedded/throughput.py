"""Tokens a second, lately."""

WINDOW_S = 2.0


class Throughput:
    """Over the last full window; 0 when idle."""

    def __init__(self) -> None:
        self.value = 0.0
        self._tokens = 0
        self._since: float | None = None

    def count(self, tokens: int, now: float) -> None:
        self._since = self._since or now
        self._tokens += tokens
        elapsed = now - self._since
        if elapsed >= WINDOW_S:
            self.value, self._tokens, self._since = self._tokens / elapsed, 0, now

    def idle(self) -> None:
        self.value, self._tokens, self._since = 0.0, 0, None
