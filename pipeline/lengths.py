"""How long answers get: a distribution learned from finished answers and from those that are still running.

Finished answers alone mislead. With many in flight the short ones finish first, so the mean of what is finished is too
small, and what is in flight is longer than the average answer. Whoever multiplies the two overshoots a budget by tens of
percent when lengths have a long tail. A running answer is a censored observation ("not finished at this age"), so a
Kaplan-Meier estimate takes both kinds, and an answer that has run for long is expected to end long.

Age is measured in *reach*: seconds times the usual tokens a second of one request. So earlier answers stay comparable when
the engines become faster or slower.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

BINS = 128


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """Expected completion tokens, in all."""

    running: float
    """Final lengths of the answers in flight, added up."""
    running_variance: float
    fresh: float
    """Final length of an answer that is sent now."""
    fresh_variance: float


class AnswerLengths:
    """Lengths of one dataset's answers, in completion tokens, between 0 and `cap`."""

    def __init__(self, cap: int) -> None:
        self.cap = max(1, cap)
        """No answer is longer: max_new_tokens."""
        self.answers = 0
        self.tokens = 0
        self.longest = 0
        self._squares = 0
        self._width = -(-(self.cap + 1) // BINS)
        self._bins = self.cap // self._width + 1
        # One imagined answer of the longest possible length stands for what was never seen: an empty history expects the
        # worst, and the far tail is never thought empty.
        self._count = [0] * self._bins
        self._sum = [0] * self._bins
        self._square = [0] * self._bins
        self._put(self._bins - 1, self.cap)
        self._lengths = [0] * self._bins

    def add(self, tokens: int, *, reach: float | None = None) -> None:
        """Count a finished answer; `reach` is its age when it finished, by default that of an answer at the usual speed."""
        self.answers += 1
        self.tokens += tokens
        self._squares += tokens * tokens
        self.longest = max(self.longest, tokens)
        self._put(self._bin(tokens if reach is None else reach), tokens)
        self._lengths[self._bin(tokens)] += 1

    @property
    def mean(self) -> float:
        """Mean of the finished answers; 0 without any."""
        return self.tokens / self.answers if self.answers else 0.0

    @property
    def deviation(self) -> float:
        """Standard deviation of the finished answers; 0 without any."""
        return max(0.0, self._squares / self.answers - self.mean**2) ** 0.5 if self.answers else 0.0

    @property
    def width(self) -> int:
        """Tokens in a bin."""
        return self._width

    @property
    def counts(self) -> list[int]:
        """Finished answers by their length; empty bins at the end are left out."""
        last = max((k for k, count in enumerate(self._lengths) if count), default=-1)
        return self._lengths[: last + 1]

    def outlook(self, reaches: Iterable[float]) -> Outlook:
        """What to expect of the answers in flight, each given by its reach, and of one more."""
        cut = [0] * self._bins
        for reach in reaches:
            cut[self._bin(reach)] += 1
        means, variances = self._remaining(self._shares(cut))
        return Outlook(
            running=sum(n * mean for n, mean in zip(cut, means, strict=True)),
            running_variance=sum(n * variance for n, variance in zip(cut, variances, strict=True)),
            fresh=means[0],
            fresh_variance=variances[0],
        )

    def _put(self, k: int, tokens: int) -> None:
        self._count[k] += 1
        self._sum[k] += tokens
        self._square[k] += tokens * tokens

    def _bin(self, reach: float) -> int:
        return min(int(reach) // self._width, self._bins - 1)

    def _shares(self, cut: list[int]) -> list[float]:
        """Kaplan-Meier: share of all answers that finish in each bin, `cut` being the running ones by bin."""
        leaving = [ended + running for ended, running in zip(self._count, cut, strict=True)]
        at_risk = list(accumulate(reversed(leaving)))[::-1]
        left, shares = 1.0, []
        for ended, alive in zip(self._count, at_risk, strict=True):
            shares.append(left * ended / alive if alive else 0.0)
            left -= shares[-1]
        return shares

    def _remaining(self, shares: list[float]) -> tuple[list[float], list[float]]:
        """Mean and variance of the final length of an answer that is still running in each bin."""
        means, variances = [0.0] * self._bins, [0.0] * self._bins
        mass = first = second = 0.0
        for k in range(self._bins - 1, -1, -1):
            if self._count[k]:
                mass += shares[k]
                first += shares[k] * self._sum[k] / self._count[k]
                second += shares[k] * self._square[k] / self._count[k]
            means[k] = first / mass
            variances[k] = max(0.0, second / mass - means[k] ** 2)
        return means, variances
