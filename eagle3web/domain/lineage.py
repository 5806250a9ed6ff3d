"""Which run feeds which: what a run is made of, and what it waits for.

A run whose sources are not all finished stays queued and is not launched. Finished is final, so what is ready stays ready.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef, QuerySet

from eagle3web.enums import InputKind, RunStatus, Stage
from eagle3web.models import Checkpoint, Project, Run, RunInput
from eagle3web.queries import pruned
from pipeline.errors import ConfigError

MAKES: dict[str, frozenset[str]] = {
    Stage.GENERATE: frozenset({InputKind.RESPONSES, InputKind.HIDDEN}),
    Stage.EXTRACT: frozenset({InputKind.HIDDEN}),
    Stage.TRAIN: frozenset({InputKind.CHECKPOINT}),
}
"""What later stages can take from a stage; hidden states of a generation whose engines keep them."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """As `RunInput`, before the run is made."""

    kind: InputKind
    source: Run | None = None
    ref: Mapping[str, str | int] = field(default_factory=dict)


def connect(run: Run, inputs: Iterable[Input]) -> None:
    """Write down what a new run is made of. Raises ConfigError for a source that does not make it, of another project, or whose
    hidden states or checkpoint were deleted."""
    # Nothing that is taken here is given up meanwhile (domain.pruning holds the same row).
    Project.objects.select_for_update(no_key=True).get(pk=run.project_id)
    for made in inputs:
        if made.source is not None:
            if made.source.project_id != run.project_id:
                raise ConfigError(f"{made.source} belongs to another project")
            if made.kind not in MAKES.get(made.source.stage, frozenset()):
                raise ConfigError(f"{made.source} makes no {made.kind.label}")
            if made.kind == InputKind.HIDDEN and (gone := pruned.shards_of(made.source.pk)) is not None:
                raise ConfigError(f"the hidden states of {made.source} were pruned on {gone.decided_at:%d %B %Y}; extract anew")
            if made.kind == InputKind.CHECKPOINT and "step" in made.ref and not _is_there(made.source, made.ref["step"]):
                raise ConfigError(f"the checkpoint of {made.source} at step {made.ref['step']} was removed from disk")
        RunInput.objects.create(run=run, source=made.source, kind=made.kind, ref=dict(made.ref))


def _is_there(source: Run, step: str | int) -> bool:
    return Checkpoint.objects.filter(run=source, step=step, removed_at=None).exists()


def inputs_of(run: Run) -> list[Input]:
    """What the run is made of, for a run that shall be made of the same."""
    rows = RunInput.objects.filter(run=run).select_related("source__project")
    return [Input(kind=InputKind(row.kind), source=row.source, ref=row.ref) for row in rows]


def held(runs: Iterable[Run]) -> dict[int, str]:
    """Run → what it waits for, in words; runs whose sources are all finished are not among them. One query.

    Of several sources, one that was cut short is named before those at work: it needs somebody.
    """
    rows = _unfinished().filter(run__in=[run.pk for run in runs]).select_related("source")
    sources: dict[int, list[Run]] = {}
    for row in rows:
        if row.source is not None:
            sources.setdefault(row.run_id, []).append(row.source)
    return {pk: _waits_for(min(found, key=_urgency)) for pk, found in sources.items()}


def held_words(run: Run) -> str:
    """What a queued run waits for, in words; empty when all its sources are finished."""
    return held([run]).get(run.pk, "")


def _urgency(source: Run) -> tuple[bool, int]:
    return source.status not in RunStatus.RESUMABLE, source.pk


def _waits_for(source: Run) -> str:
    if source.status not in RunStatus.RESUMABLE:
        return f"waits for {source}"
    ended = {RunStatus.LOST: "is lost", RunStatus.FAILED: "failed"}.get(RunStatus(source.status), "was stopped")
    return f"waits for {source}, which {ended}: resume that one, and this one follows; or stop this one"


def is_held() -> Exists:
    """A condition on runs: at least one source is not finished."""
    return Exists(_unfinished().filter(run=OuterRef("pk")))


def ready_followers(run: Run) -> QuerySet[Run]:
    """Queued runs that take something from this one and wait for nothing any more."""
    return Run.objects.filter(~is_held(), status=RunStatus.QUEUED, inputs__source=run).distinct().order_by("pk")


def _unfinished() -> QuerySet[RunInput]:
    # A checkpoint that somebody chose by its step is there already, whatever becomes of its run.
    rows = RunInput.objects.exclude(source=None).exclude(kind=InputKind.CHECKPOINT, ref__has_key="step")
    return rows.exclude(source__status=RunStatus.FINISHED)
