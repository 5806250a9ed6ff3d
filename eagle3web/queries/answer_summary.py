"""What a dataset's answers are like, all together: how long, how they end, how they repeat themselves, in what script."""

from dataclasses import dataclass
from itertools import pairwise

from django.db.models import Avg, Count, F, Max, Q, QuerySet

from eagle3web.models import Answer

BINS = 32
LANGUAGES = 6
"""That are named; the others are counted together."""
REPETITIVE = 3
"""Tenths: an answer of which this share of four-token sequences occurred before is called repetitive."""


@dataclass(frozen=True, kw_only=True)
class AnswerSummary:
    answers: int
    errors: int
    truncated: int
    mean_tokens: float | None
    longest: int
    width: int
    """Tokens of a bin of `lengths`."""
    lengths: list[int]
    repetition: list[int]
    """Answers by tenths of their repetition; the last one includes 1."""
    languages: list[tuple[str, int]]
    """The most frequent first; answers without letters are left out."""
    ends: list[tuple[str, int]]

    @property
    def truncated_share(self) -> float | None:
        return self.truncated / self.answers if self.answers else None

    @property
    def repetitive(self) -> int:
        return sum(self.repetition[REPETITIVE:])

    @property
    def repetitive_share(self) -> float | None:
        return self.repetitive / self.answers if self.answers else None

    @property
    def edges(self) -> list[int]:
        return [place * self.width for place in range(len(self.lengths) + 1)]


def answer_summary(project_id: int, dataset: str) -> AnswerSummary:
    """Five queries, each of which reads one index."""
    rows = Answer.objects.filter(project=project_id, dataset=dataset).order_by()
    ends = dict(rows.values_list("finish_reason").annotate(count=Count("pk")))
    errors = ends.pop("", 0)
    answered = rows.filter(tokens__gt=0)
    facts = answered.aggregate(longest=Max("tokens"), mean=Avg("tokens"))
    longest = facts["longest"] or 0
    width = bin_width(longest)
    repeated = _tenths(rows)
    # What gave no answer repeats nothing.
    repeated[0] -= errors
    return AnswerSummary(
        answers=sum(ends.values()),
        errors=errors,
        truncated=ends.get("length", 0),
        mean_tokens=facts["mean"],
        longest=longest,
        width=width,
        lengths=_lengths(answered, width, longest // width + 1 if longest else 0),
        repetition=repeated,
        languages=_languages(rows),
        ends=sorted(ends.items(), key=lambda end: -end[1]) + ([("error", errors)] if errors else []),
    )


def bin_width(longest: int) -> int:
    """The smallest 1, 2 or 5 times a power of ten that needs at most BINS bins."""
    width, steps = 1, (2, 2.5, 2)
    for turn in range(60):
        if longest // width < BINS:
            break
        width = round(width * steps[turn % 3])
    return width


def _lengths(rows: QuerySet[Answer], width: int, bins: int) -> list[int]:
    counts = dict(rows.annotate(bin=F("tokens") / width).values_list("bin").annotate(count=Count("pk")))
    return [counts.get(place, 0) for place in range(bins)]


def _tenths(rows: QuerySet[Answer]) -> list[int]:
    """Answers by tenths of their repetition. In plain comparisons, which a database does without calling anybody."""
    edges = [Q(repetition__gte=place / 10) for place in range(1, 10)]
    above = rows.aggregate(
        all=Count("pk"), **{f"from_{place}": Count("pk", filter=edge) for place, edge in enumerate(edges, start=1)}
    )
    counts = [above["all"], *(above[f"from_{place}"] for place in range(1, 10)), 0]
    return [more - fewer for more, fewer in pairwise(counts)]


def _languages(rows: QuerySet[Answer]) -> list[tuple[str, int]]:
    counted = rows.exclude(language="").values_list("language").annotate(count=Count("pk"))
    ordered = sorted(counted, key=lambda found: (-found[1], found[0]))
    others = sum(count for _, count in ordered[LANGUAGES:])
    return ordered[:LANGUAGES] + ([("other", others)] if others else [])
