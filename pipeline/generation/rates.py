"""How fast answers come in, over the last minute."""

from collections import deque

WINDOW_S = 60.0


class Rates:
    """`now` is any clock in seconds that never runs back."""

    def __init__(self) -> None:
        self._answers: deque[tuple[float, int]] = deque()
        self._tokens = 0
        self._since: float | None = None

    def start(self, now: float) -> None:
        """The first request is sent, or the first after a rest."""
        self._since = now
        self._answers.clear()
        self._tokens = 0

    def add(self, tokens: int, now: float) -> None:
        self._answers.append((now, tokens))
        self._tokens += tokens

    def per_second(self, now: float) -> tuple[float, float]:
        """Answers and completion tokens a second; zeros before the start."""
        if self._since is None:
            return 0.0, 0.0
        while self._answers and self._answers[0][0] < now - WINDOW_S:
            self._tokens -= self._answers.popleft()[1]
        span = max(1.0, min(WINDOW_S, now - self._since))
        return len(self._answers) / span, self._tokens / span
