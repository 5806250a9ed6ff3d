"""Accept length and speedup, from counts: plain arithmetic that every page and stage shares.

Simulated: what chains of drafts would have been accepted on recorded answers, without decoding. It overstates.
Served: what an engine counted while it decoded. Both include the target's own token (the bonus), so 1.0 is "no draft accepted".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from pipeline.errors import DataError


@dataclass(frozen=True, kw_only=True)
class SimulatedAcceptance:
    """Counts over rows, additive over batches, datasets and processes. Tuples are indexed by step."""

    starts: int
    """Rows on which a chain starts: those with a label at step 0."""
    survivors: tuple[int, ...]
    """Chains whose drafts are right up to and including this step."""
    hits: tuple[int, ...]
    """Right drafts."""
    rows: tuple[int, ...]
    """Rows with a label at this step; a label outside the draft vocabulary is a miss."""

    def __add__(self, other: "SimulatedAcceptance") -> "SimulatedAcceptance":
        return SimulatedAcceptance(
            starts=self.starts + other.starts,
            survivors=_sum(self.survivors, other.survivors),
            hits=_sum(self.hits, other.hits),
            rows=_sum(self.rows, other.rows),
        )

    @property
    def accept_length(self) -> float:
        """Tokens a verification yields, bonus token included: 1 + mean over chains of Σ_k cumprod(correct)."""
        return 1 + sum(self.survivors) / self.starts if self.starts else 1.0

    @property
    def accuracy(self) -> tuple[float, ...]:
        """acc_k: right drafts over rows with a label; 0 where there are none."""
        return tuple(hits / rows if rows else 0.0 for hits, rows in zip(self.hits, self.rows, strict=True))

    @property
    def conditional(self) -> tuple[float, ...]:
        """Acceptance by position: the chance of draft k among chains that reached it."""
        reached = (self.starts, *self.survivors)
        return tuple(alive / before if before else 0.0 for before, alive in pairwise(reached))


def _sum(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    """Elementwise; the shorter one counts 0 in its missing steps (a batch of one step beside one of K)."""
    size = max(len(left), len(right))
    padded = [(*values, *(0 for _ in range(size - len(values)))) for values in (left, right)]
    return tuple(a + b for a, b in zip(*padded, strict=True))


def simulate(correct: Sequence[Sequence[bool]], supervised: Sequence[Sequence[bool]]) -> SimulatedAcceptance:
    """Count chains. Both arguments are indexed [step][row]; a draft without a label (past the answer's end) ends its chain."""
    alive = list(supervised[0])
    starts, survivors = sum(alive), []
    for drafts, labels in zip(correct, supervised, strict=True):
        alive = [a and d and label for a, d, label in zip(alive, drafts, labels, strict=True)]
        survivors.append(sum(alive))
    return SimulatedAcceptance(
        starts=starts,
        survivors=tuple(survivors),
        hits=tuple(
            sum(d and label for d, label in zip(drafts, labels, strict=True))
            for drafts, labels in zip(correct, supervised, strict=True)
        ),
        rows=tuple(sum(labels) for labels in supervised),
    )


@dataclass(frozen=True, kw_only=True)
class Served:
    """One request's counts, as an engine with a drafter reports them."""

    completion_tokens: int
    verify_ct: int
    """Forward passes of the target that verified drafts."""
    correct_drafts: tuple[int, ...] = ()
    """How many verifications accepted exactly 0, 1, 2, … drafts (`spec_correct_drafts_histogram`)."""


def served_accept_length(requests: Iterable[Served]) -> float:
    """Completion tokens over verifications, pooled over requests: a mean of means would weigh short answers like long ones.

    Raises DataError when no request was verified: the engine ran without a drafter.
    """
    tokens = verifications = 0
    for request in requests:
        tokens += request.completion_tokens
        verifications += request.verify_ct
    if verifications == 0:
        raise DataError("no verification was counted: the engine ran without a drafter")
    return tokens / verifications


def served_conditional(requests: Iterable[Served]) -> tuple[float, ...]:
    """Acceptance by position: of the verifications that accepted k drafts or more, the share that accepted k + 1 or more."""
    histogram: tuple[int, ...] = ()
    for request in requests:
        histogram = _sum(histogram, request.correct_drafts)
    reached = [sum(histogram[k:]) for k in range(len(histogram))]
    return tuple(after / before if before else 0.0 for before, after in pairwise(reached))


@dataclass(frozen=True, kw_only=True)
class Speedup:
    """Drafter over baseline, one ratio for each repetition of the pair."""

    median: float
    low: float
    """Smallest ratio."""
    high: float
    """Largest ratio."""
    repetitions: int


def speedup(baseline_tokens_per_s: Sequence[float], draft_tokens_per_s: Sequence[float]) -> Speedup:
    """Pair each repetition with the baseline that ran beside it. Raises DataError without a baseline for every repetition."""
    if not draft_tokens_per_s or len(baseline_tokens_per_s) != len(draft_tokens_per_s):
        measured = f"{len(baseline_tokens_per_s)} and {len(draft_tokens_per_s)}"
        raise DataError(f"a speedup needs a baseline for each repetition: {measured} were measured")
    if min(baseline_tokens_per_s) <= 0:
        raise DataError("a baseline of 0 tokens/s is no baseline")
    ratios = [draft / base for base, draft in zip(baseline_tokens_per_s, draft_tokens_per_s, strict=True)]
    return Speedup(median=median(ratios), low=min(ratios), high=max(ratios), repetitions=len(ratios))
