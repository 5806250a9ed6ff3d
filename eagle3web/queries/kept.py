"""What must not be thrown away in a project, whatever its age: live and starred runs, what they and resumable ones take, and
everything behind a checkpoint that somebody chose."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from eagle3web.enums import InputKind, Review, RunStatus
from eagle3web.models import Checkpoint, ControlMessage, Run, RunInput, Star
from pipeline.control import SwapDrafter

CHOSEN = Q(promoted=True) | Q(review__in=[Review.PROPOSED, Review.APPROVED])
"""Checkpoints that are the project's, may become it, or wait for a word."""
OPEN = RunStatus.LIVE | RunStatus.RESUMABLE


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Keys, by what they are kept from."""

    whole: frozenset[int]
    """Runs that lose nothing: live ones, starred ones, and the whole lineage of chosen checkpoints and starred runs."""
    products: frozenset[int]
    """Runs that lose neither hidden states nor checkpoints: a run that is live or may be resumed is such a one, or takes from
    it."""
    checkpoints: frozenset[int]
    """That are chosen, or named by the config of a run that may go on or is kept whole."""


def kept_in(project_id: int) -> Kept:
    """Everything that is kept in a project. About eight queries, and one for each generation of a lineage."""
    runs = Run.objects.filter(project=project_id)
    live = set(runs.filter(status__in=RunStatus.LIVE).values_list("pk", flat=True))
    unfinished = live | set(runs.filter(status__in=RunStatus.RESUMABLE).values_list("pk", flat=True))
    starred = set(Star.objects.filter(run__project=project_id).values_list("run", flat=True))
    of_project = Checkpoint.objects.filter(project=project_id)
    chosen = dict(of_project.filter(CHOSEN).values_list("pk", "run"))
    lineage = _with_sources(starred | set(chosen.values()), _sources_of(project_id))
    whole = live | lineage
    inputs = RunInput.objects.filter(run__project=project_id, run__in=unfinished).exclude(source=None)
    products = unfinished | starred | set(inputs.values_list("source", flat=True)) | (lineage - set(chosen.values()))
    named = of_project.filter(path__in=_named_folders(runs.filter(Q(status__in=OPEN) | Q(pk__in=lineage))))
    return Kept(
        whole=frozenset(whole),
        products=frozenset(products),
        checkpoints=frozenset(chosen) | frozenset(named.values_list("pk", flat=True)) | _taken_steps(project_id, lineage),
    )


def _sources_of(project_id: int) -> dict[int, set[int]]:
    """Run → the runs that it is made of. One query."""
    found: dict[int, set[int]] = {}
    rows = RunInput.objects.filter(run__project=project_id).exclude(source=None).values_list("run", "source")
    for run, source in rows:
        found.setdefault(run, set()).add(source)
    return found


def _with_sources(start: Iterable[int], sources: dict[int, set[int]]) -> set[int]:
    """These runs, what they are made of, and so on."""
    found: set[int] = set()
    edge = set(start)
    while edge:
        found |= edge
        edge = {source for run in edge for source in sources.get(run, ())} - found
    return found


def _named_folders(runs: QuerySet[Run]) -> set[str]:
    """Folders of checkpoints in the configs of runs: what a benchmark or a server loads, and what a training goes on from; and
    those that a server was asked to change to."""
    rows = [*runs.values_list("config__drafter", "config__saving__continue_from")]
    swaps = ControlMessage.objects.filter(attempt__run__in=runs.values("pk"), kind=SwapDrafter.kind)
    rows += [(folder, "") for folder in swaps.values_list("payload__drafter", flat=True)]
    return {folder for row in rows for folder in row if isinstance(folder, str) and folder}


def _taken_steps(project_id: int, runs: Iterable[int]) -> frozenset[int]:
    """Checkpoints that these runs take by their step."""
    rows = RunInput.objects.filter(run__project=project_id, run__in=list(runs), kind=InputKind.CHECKPOINT).exclude(source=None)
    wanted = [(source, ref["step"]) for source, ref in rows.values_list("source", "ref") if "step" in ref]
    found = Checkpoint.objects.filter(run__in={source for source, _ in wanted}).values_list("pk", "run", "step")
    return frozenset(pk for pk, run, step in found if (run, step) in set(wanted))
