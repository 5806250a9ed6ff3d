"""The runs that a run is made of, those that are made of it, and what they gave."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Max, Q, Sum

from eagle3web.models import Attempt, BenchmarkRow, Checkpoint, DatasetProgress, Run, RunInput
from pipeline.exclusions import described

MOST = 24
"""Runs that a family shows; the newest of those that are made of it come first."""


@dataclass(frozen=True, kw_only=True)
class Family:
    runs: list[Run]
    """By number, the run itself included."""
    inputs: list[RunInput]
    """Of these runs, prompts included; sources that are not shown are left out."""
    more: int
    """Runs made of it that are left out."""


def family(run_id: int) -> Family:
    """All that a run is made of, and all that is made of it; not what else is made of its sources. A few queries a level."""
    before, after = _reached(run_id, "run", "source"), _reached(run_id, "source", "run")
    shown = {run_id, *before, *sorted(after, reverse=True)[: max(0, MOST - len(before) - 1)]}
    known = Q(source=None) | Q(source__in=shown)
    return Family(
        runs=list(Run.objects.filter(pk__in=shown).order_by("pk")),
        inputs=list(RunInput.objects.filter(known, run__in=shown).order_by("id")),
        more=len(after | before | {run_id}) - len(shown),
    )


def _reached(start: int, this: str, other: str) -> set[int]:
    """Runs that one gets to from `start` by going from `this` end of an input to the `other`, again and again."""
    found: set[int] = set()
    edge = {start}
    while edge:
        rows = RunInput.objects.filter(**{f"{this}__in": edge}).exclude(source=None).values_list(f"{other}_id", flat=True)
        edge = set(rows) - found
        found |= edge
    return found


def checkpoints_of(runs: Iterable[int]) -> list[Checkpoint]:
    """Of these training runs, by step; those whose folder was deleted included. One query."""
    return list(Checkpoint.objects.filter(run__in=runs).defer("manifest", "card").order_by("run", "step"))


def drafters_measured(runs: Iterable[int]) -> dict[int, str]:
    """Benchmark run → the checkpoint folder that its newest attempt measured, or measures, as `below_home`. One query."""
    newest = Run.objects.filter(pk__in=runs).annotate(last=Max("attempts__number")).values_list("pk", "last")
    wanted = Q()
    for pk, number in newest:
        wanted |= Q(run=pk, number=number)
    rows = Attempt.objects.filter(wanted).values_list("run", "config__drafter") if wanted else []
    return {pk: below_home(str(folder)) for pk, folder in rows if folder}


def below_home(folder: str) -> str:
    """The folder as every home names it, so that what an attempt was told before its home moved is found; others stay whole."""
    _, projects, below = folder.rpartition("/projects/")
    return f"{projects}{below}"


def tokens_of(runs: Iterable[int]) -> dict[int, int]:
    """Generation run → completion tokens on disk by its newest attempt's word. One query."""
    rows = DatasetProgress.objects.filter(attempt__run__in=runs).values("attempt__run", "attempt__number")
    sums = rows.annotate(total=Sum("tokens")).order_by("attempt__number").values_list("attempt__run", "total")
    return dict(sums)


def exclusions_of(runs: Iterable[int]) -> dict[int, str]:
    """Extraction or training run → what its newest attempt leaves out, in words; runs that leave out nothing are missing. One
    query. What an older version wrote is shown as it is."""
    rows = Attempt.objects.filter(run__in=runs).order_by("number").values_list("run", "config__exclusions")
    return {
        pk: described(sum(len(row["keys"]) for row in listed["answers"]), listed=listed["hash"], by=listed["by"])
        for pk, listed in rows
        if listed and listed.get("hash")
    }


def speedups_of(runs: Iterable[int]) -> dict[int, BenchmarkRow]:
    """Benchmark run → its drafter's best row over all datasets. One query."""
    rows = BenchmarkRow.objects.filter(attempt__run__in=runs, dataset="", mode="drafter").exclude(speedup=None)
    return {row.attempt.run_id: row for row in rows.select_related("attempt").order_by("attempt__number", "speedup")}
