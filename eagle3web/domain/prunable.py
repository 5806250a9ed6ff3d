"""What the rules of a project throw away at this moment. Previews and removals ask here, so that they never differ."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby

from django.db.models import Count, Exists, F, Max, OuterRef, Q

from eagle3web.domain.clock import database_now
from eagle3web.domain.retention import Rule, rules_of
from eagle3web.enums import AttemptStatus, Prunable, RunStatus, Stage
from eagle3web.models import Attempt, Checkpoint, MetricPoint, Project, Pruned, Run
from eagle3web.queries.kept import Kept, kept_in

POINT_BYTES = 150
"""Of a row of a chart point with its share of the index, about."""
BATCH = 500
"""Keys of one query."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """One thing that a rule throws away."""

    kind: Prunable
    policy: str
    """The rule in words."""
    run_id: int
    attempt_id: int | None = None
    checkpoint_id: int | None = None
    host: str = ""
    """Which has the files; empty for what lies in the database alone."""
    bytes: int = 0
    count: int = 0


def find(project: Project, *, kinds: Iterable[Prunable] = tuple(Prunable)) -> list[Found]:
    """What would go if the project were pruned now. Points are not counted here (`with_sizes` does), since that takes long."""
    wanted = set(kinds)
    rules = [rule for rule in rules_of(project) if rule.kind in wanted]
    if not rules:
        return []
    kept, now = kept_in(project.pk), database_now()
    return [found for rule in rules for found in _FINDERS[rule.kind](project, rule, kept, now - timedelta(days=rule.days))]


def with_sizes(found: Iterable[Found]) -> list[Found]:
    """The same with their points counted."""
    things = list(found)
    attempts = [thing.attempt_id for thing in things if thing.attempt_id is not None and thing.kind == Prunable.POINTS]
    counts: dict[int | None, int] = {}
    for keys in _batches(attempts):
        rows = MetricPoint.objects.filter(attempt__in=keys).order_by().values("attempt").annotate(n=Count("pk"))
        counts |= dict(rows.values_list("attempt", "n"))
    return [
        replace(thing, count=counts.get(thing.attempt_id, 0), bytes=counts.get(thing.attempt_id, 0) * POINT_BYTES)
        if thing.kind == Prunable.POINTS
        else thing
        for thing in things
    ]


def _of_attempts(project: Project, rule: Rule, kept: Kept, before: datetime) -> Iterator[Found]:
    """Logs, events or points of attempts that ended long ago, but of the last ones of each run."""
    last = Attempt.objects.filter(run=OuterRef("run")).order_by().values("run").annotate(last=Max("number")).values("last")
    rows = Attempt.objects.filter(run__project=project, status__in=AttemptStatus.TERMINAL, ended_at__lt=before)
    rows = rows.filter(~Exists(Pruned.objects.filter(attempt=OuterRef("pk"), kind=rule.kind)), _has_any(rule.kind))
    rows = rows.annotate(last=last[:1]).filter(number__lte=F("last") - rule.keep_last).order_by("run", "number")
    for key, run, host, log_bytes, lines, offset, seq in rows.values_list(
        "pk", "run", "host", "log_bytes", "log_lines", "events_offset", "last_seq"
    ):
        size, count = {Prunable.LOGS: (log_bytes, lines), Prunable.EVENTS: (offset, seq)}.get(rule.kind, (0, 0))
        if run not in kept.whole:
            yield Found(
                kind=rule.kind, policy=rule.words, run_id=run, attempt_id=key, bytes=size, count=count,
                host="" if rule.kind == Prunable.POINTS else host,
            )  # fmt: skip


def _has_any(kind: Prunable) -> Q | Exists:
    """A condition on attempts: there is something of that kind."""
    if kind == Prunable.POINTS:
        return Exists(MetricPoint.objects.filter(attempt=OuterRef("pk")))
    return Q(log_bytes__gt=0) if kind == Prunable.LOGS else Q(last_seq__gt=0)


def _shards(project: Project, rule: Rule, kept: Kept, before: datetime) -> Iterator[Found]:
    """Hidden states of finished extractions: on each host that wrote some, as its last attempt there counted them."""
    finished = Run.objects.filter(project=project, stage=Stage.EXTRACT, status=RunStatus.FINISHED).order_by("-pk")
    ended = finished.annotate(ended=Max("attempts__ended_at")).values_list("pk", "ended")[rule.keep_last :]
    old = [pk for pk, end in ended if end is not None and end < before and pk not in kept.whole | kept.products]
    for keys in _batches(old):
        attempts = Attempt.objects.filter(run__in=keys).order_by("run", "host", "number")
        gone = set(Pruned.objects.filter(run__in=keys, kind=Prunable.SHARDS).values_list("run", "host"))
        rows = attempts.values_list("run", "host", "counters__extraction_progress")
        for (run, host), group in groupby(rows, key=lambda row: (row[0], row[1])):
            told = [row[2] for row in group if isinstance(row[2], dict)]
            if told and (run, host) not in gone:
                yield Found(
                    kind=rule.kind, policy=rule.words, run_id=run, host=host,
                    bytes=int(told[-1].get("bytes") or 0), count=int(told[-1].get("documents") or 0),
                )  # fmt: skip


def _checkpoints(project: Project, rule: Rule, kept: Kept, before: datetime) -> Iterator[Found]:
    """Of finished trainings; of each the best stays first, then the newest."""
    rows = Checkpoint.objects.filter(project=project, removed_at=None, run__status=RunStatus.FINISHED)
    rows = rows.order_by("run", "-best", "-step")
    places = rows.values_list("run", "pk", "saved_at", "bytes", "attempt__host")
    for run, group in groupby(places, key=lambda row: row[0]):
        for place, (_run, key, saved_at, size, host) in enumerate(group):
            if place < rule.keep_last or saved_at >= before or run in kept.products or key in kept.checkpoints:
                continue
            yield Found(
                kind=rule.kind, policy=rule.words, run_id=run, checkpoint_id=key, host=host, bytes=size, count=1
            )  # fmt: skip


def _batches(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    return (keys[start : start + BATCH] for start in range(0, len(keys), BATCH))


_Finder = Callable[[Project, Rule, Kept, datetime], Iterator[Found]]
_FINDERS: dict[Prunable, _Finder] = {
    Prunable.LOGS: _of_attempts,
    Prunable.EVENTS: _of_attempts,
    Prunable.POINTS: _of_attempts,
    Prunable.SHARDS: _shards,
    Prunable.CHECKPOINTS: _checkpoints,
}
