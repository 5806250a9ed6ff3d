"""How many rows of each kind."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Size:
    runs: int = 10_000
    checkpoints: int = 1_000
    points: int = 5_000_000
    events: int = 1_000_000
    answers: int = 300_000

    def scaled(self, share: float) -> "Size":
        """A share of it; at least enough that every page has something to show."""
        return Size(
            runs=max(60, round(self.runs * share)),
            checkpoints=max(10, round(self.checkpoints * share)),
            points=max(2_000, round(self.points * share)),
            events=max(500, round(self.events * share)),
            answers=max(200, round(self.answers * share)),
        )

    @property
    def rows(self) -> int:
        return self.runs + self.checkpoints + self.points + self.events + self.answers
