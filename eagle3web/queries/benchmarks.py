"""Results of benchmarks. A speedup comes with the plain row that it was measured against, or it is not shown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import F, OrderBy, OuterRef, QuerySet, Subquery

from eagle3web.enums import Stage
from eagle3web.models import Attempt, BenchmarkRow, DraftedAnswer, Run

ALL = ""
"""The dataset of rows over all datasets."""
MODES = ("plain", "lookup", "drafter")
ORDERS = {
    "speedup": ("drafter", "speedup"),
    "accept": ("drafter", "accept_length"),
    "lookup": ("lookup", "speedup"),
    "plain": ("plain", "tokens_per_s"),
    "concurrency": ("plain", "concurrency"),
}
"""Orders of the list by what the newest attempt measured: mode and column."""
NEWEST = 200
"""Attempts whose results are compared for the best one."""


@dataclass(frozen=True, kw_only=True)
class Headline:
    """What an attempt found over all datasets: each mode at the lowest concurrency, in its fastest shape."""

    attempt: Attempt
    plain: BenchmarkRow | None
    lookup: BenchmarkRow | None
    drafter: BenchmarkRow | None

    @property
    def speedup(self) -> float | None:
        """The drafter's, where its baseline is known."""
        return self.drafter.speedup if self.drafter and self.plain else None


def rows_of(attempt_id: int) -> list[BenchmarkRow]:
    """All results of an attempt: over all datasets first, each mode below its baseline. One query."""
    rows = BenchmarkRow.objects.filter(attempt=attempt_id).select_related("checkpoint")
    return sorted(rows, key=lambda row: (row.dataset, row.concurrency, _place(row.mode), row.shape))


def best_row(rows: Iterable[BenchmarkRow], mode: str, *, dataset: str = ALL) -> BenchmarkRow | None:
    """A mode's row at the lowest concurrency, in its fastest shape; None when the mode was not measured."""
    found = [row for row in rows if row.mode == mode and row.dataset == dataset]
    lowest = min((row.concurrency for row in found), default=0)
    return max((row for row in found if row.concurrency == lowest), key=lambda row: row.tokens_per_s, default=None)


def headline(attempt: Attempt, rows: Sequence[BenchmarkRow]) -> Headline:
    plain, lookup, drafter = (best_row(rows, mode) for mode in MODES)
    return Headline(attempt=attempt, plain=plain, lookup=lookup, drafter=drafter)


def headlines(attempt_ids: Iterable[int]) -> dict[int, Headline]:
    """Attempt → what it found, where it found anything. One query."""
    rows = BenchmarkRow.objects.filter(attempt__in=set(attempt_ids), dataset=ALL).select_related("attempt__run", "checkpoint")
    rows = rows.defer("attempt__versions", "attempt__argv", "attempt__counters", "checkpoint__manifest", "checkpoint__card")
    return {attempt_id: headline(own[0].attempt, own) for attempt_id, own in _by_attempt(rows).items()}


def headlines_of_checkpoints(checkpoint_ids: Iterable[int]) -> dict[int, Headline]:
    """Checkpoint → what its newest benchmark found. Two queries."""
    measured = BenchmarkRow.objects.filter(checkpoint__in=set(checkpoint_ids), dataset=ALL, mode="drafter")
    newest = dict(measured.order_by("attempt_id").values_list("checkpoint_id", "attempt_id"))
    found = headlines(newest.values())
    return {checkpoint: found[attempt] for checkpoint, attempt in newest.items() if attempt in found}


def best_of_project(project_id: int) -> Headline | None:
    """The largest speedup so far, of the newest NEWEST attempts that measured a drafter. Three queries."""
    measured = BenchmarkRow.objects.filter(attempt__run__project=project_id, dataset=ALL, mode="drafter", speedup__isnull=False)
    attempts = measured.order_by("-attempt_id").values_list("attempt_id", flat=True).distinct()[:NEWEST]
    rows = BenchmarkRow.objects.filter(attempt__in=list(attempts), dataset=ALL).defer("acceptance")
    gains = {attempt_id: _gain(own) for attempt_id, own in _by_attempt(rows).items()}
    known = [(gain, attempt_id) for attempt_id, gain in gains.items() if gain is not None]
    return headlines([max(known)[1]])[max(known)[1]] if known else None


def _by_attempt(rows: Iterable[BenchmarkRow]) -> dict[int, list[BenchmarkRow]]:
    found: dict[int, list[BenchmarkRow]] = {}
    for row in rows:
        found.setdefault(row.attempt_id, []).append(row)
    return found


def _gain(rows: Sequence[BenchmarkRow]) -> float | None:
    """As Headline.speedup, without the attempt."""
    drafter, plain = best_row(rows, "drafter"), best_row(rows, "plain")
    return drafter.speedup if drafter and plain else None


def benchmark_runs(project_id: int, sort: str = "") -> QuerySet[Run]:
    """Runs of the benchmark stage, the newest first; or by one of ORDERS, a minus before it for the largest first.

    What was not measured stands last either way.
    """
    rows = Run.objects.filter(project=project_id, stage=Stage.BENCHMARK).select_related("author")
    name, down = sort.removeprefix("-"), sort.startswith("-")
    if name not in ORDERS:
        return rows.order_by("-id" if down or not name else "id")
    mode, column = ORDERS[name]
    measured = BenchmarkRow.objects.filter(attempt__run=OuterRef("pk"), dataset=ALL, mode=mode)
    newest = measured.order_by("-attempt_id", "concurrency", "-tokens_per_s").values(column)[:1]
    order = OrderBy(F("measured"), descending=down, nulls_last=True)
    return rows.annotate(measured=Subquery(newest)).order_by(order, "-id")


def answers_of(attempt_id: int) -> list[DraftedAnswer]:
    """Answers whose drafts can be looked at, without their text. One query."""
    return list(DraftedAnswer.objects.filter(attempt=attempt_id).defer("pieces", "depths", "prompt").order_by("dataset", "id"))


def _place(mode: str) -> int:
    return MODES.index(mode) if mode in MODES else len(MODES)
