"""Throws away what the rules find: the row first, then the bytes.

The row comes first because it is what keeps people and runs from a thing that is half gone: a worker that dies in between
leaves a thing that nobody uses and that the next round removes. The other way round it would leave a folder that looks whole to
whoever reads the rows. For the same reason a folder is renamed out of sight before it is deleted. Each host deletes its own.
"""

import contextlib
import fcntl
import logging
import os
import re
import shutil
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from eagle3web.domain import attempts, audit, prunable
from eagle3web.domain.clock import database_now
from eagle3web.domain.prunable import Found
from eagle3web.domain.retention import is_on
from eagle3web.enums import Prunable
from eagle3web.models import Checkpoint, Event, LogChunk, MetricPoint, Project, Pruned, Run, User
from eagle3web.queries.kept import CHOSEN
from pipeline.artifacts import Home

ROWS: dict[str, type[LogChunk] | type[Event] | type[MetricPoint]] = {
    Prunable.LOGS: LogChunk,
    Prunable.EVENTS: Event,
    Prunable.POINTS: MetricPoint,
}
BATCH = 2000
"""Rows of one transaction: supervisors that write meanwhile wait for no more than that."""
NAMED = 50
"""Runs that an audit entry names."""
STEP = re.compile(r"step-\d+")
log = logging.getLogger(__name__)


def prune(project: Project, *, user: User | None, kinds: Iterable[Prunable] = tuple(Prunable)) -> list[Pruned]:
    """Give up what the project's rules find now; their bytes go with `remove`, on the hosts that have them.

    Consequences, in one transaction: a Pruned row for each thing, `removed_at` of checkpoints, an AuditEntry for each kind, and
    viewers of the runs are poked. What was given up before is not found again.
    """
    with transaction.atomic():
        # Whoever promotes a checkpoint or makes a run of another one holds this row, too.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        rows = [_give_up(found, user) for found in prunable.find(project, kinds=kinds) if _is_free(found)]
        Pruned.objects.bulk_create(rows, batch_size=500)
        _record(project, rows, user)
        for run in Run.objects.filter(pk__in={row.run_id for row in rows}):
            attempts.announce(run)
    return rows


def prune_all(*, user: User | None = None) -> list[Pruned]:
    """As `prune`, for every project; nothing while no rule is switched on."""
    return [row for project in Project.objects.order_by("pk") for row in prune(project, user=user)] if is_on() else []


def remove(*, time_s: float = 20.0) -> bool:
    """Delete the bytes of what was given up: rows of the database, and files of this host. Whether nothing is left to do here.

    May be interrupted anywhere and called again; ends after about `time_s` with the rest undone. Where somebody else on this
    host is at it, nothing is left to do.
    """
    with _alone() as alone:
        return _remove(time.monotonic() + time_s) if alone else True


@contextlib.contextmanager
def _alone() -> Iterator[bool]:
    """Whether nobody else on this host removes at this moment; the kernel gives the lock back, also when we are killed."""
    with (Path(settings.EAGLE3_HOME) / "prune.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _remove(deadline: float) -> bool:
    for row in _waiting().select_related("run__project", "attempt", "checkpoint").order_by("pk"):
        if not _delete_rows(row, deadline):
            return False
        if row.host in {"", settings.EAGLE3_HOST}:
            try:
                _delete_files(row)
            except OSError:
                log.exception("the files of %s cannot be deleted; they are tried again with the next round", row)
                continue
            Pruned.objects.filter(pk=row.pk, removed_at=None).update(removed_at=database_now())
        if time.monotonic() > deadline:
            return False
    return _sweep(deadline)


def _sweep(deadline: float) -> bool:
    """Delete what came to this host although it was deleted where it was made: fetched from a store, or out of a backup."""
    gone = Pruned.objects.exclude(removed_at=None).exclude(kind=Prunable.POINTS).order_by("pk")
    for row in gone.select_related("run__project", "attempt", "checkpoint").iterator():
        try:
            came_back = _delete_files(row)
        except OSError:
            log.exception("the files of %s are here again and cannot be deleted", row)
            continue
        if came_back and time.monotonic() > deadline:
            return False
    return True


def has_any() -> bool:
    """Whether anything was ever given up."""
    return Pruned.objects.exists()


def waiting_hosts() -> list[str]:
    """Hosts that have files to delete."""
    return list(_waiting().exclude(host="").order_by("host").values_list("host", flat=True).distinct())


def _waiting() -> QuerySet[Pruned]:
    return Pruned.objects.filter(removed_at=None)


def _is_free(found: Found) -> bool:
    """A checkpoint is given up by compare-and-set: a word that somebody said about it at this moment keeps it."""
    if found.checkpoint_id is None:
        return True
    free = Checkpoint.objects.filter(pk=found.checkpoint_id, removed_at=None).exclude(CHOSEN)
    return free.update(removed_at=database_now()) == 1


def _give_up(found: Found, user: User | None) -> Pruned:
    fields = {
        name: getattr(found, name) for name in ("kind", "run_id", "attempt_id", "checkpoint_id", "host", "bytes", "count")
    }
    return Pruned(policy=found.policy[:200], author=user, **fields)


def _record(project: Project, rows: Iterable[Pruned], user: User | None) -> None:
    by_kind: dict[str, list[Pruned]] = defaultdict(list)
    for row in rows:
        by_kind[row.kind].append(row)
    for kind, own in by_kind.items():
        runs = sorted({row.run_id for row in own})
        detail = {"kind": kind, "things": len(own), "bytes": sum(row.bytes for row in own), "policy": own[0].policy}
        more = max(0, len(runs) - NAMED)
        audit.record(user, "retention.prune", project, project=project.slug, runs=runs[:NAMED], more=more, **detail)


def _delete_rows(row: Pruned, deadline: float) -> bool:
    """Delete the rows of the attempt's kind, batch by batch; whether all are gone."""
    model = ROWS.get(row.kind)
    if model is None:
        return True
    deleted = 0
    while keys := list(model.objects.filter(attempt=row.attempt_id).order_by("pk").values_list("pk", flat=True)[:BATCH]):
        deleted += model.objects.filter(pk__in=keys).delete()[0]
        if time.monotonic() > deadline:
            break
    if row.kind == Prunable.POINTS and deleted:
        # They were not counted before.
        count = row.count + deleted
        Pruned.objects.filter(pk=row.pk).update(count=count, bytes=count * prunable.POINT_BYTES)
    return not keys


def _delete_files(row: Pruned) -> bool:
    """Whether there was something. Raises OSError.

    Paths are made of numbers and names of this host's home, never of what a row says of a path.
    """
    deleted = False
    for path in _paths(row):
        hidden = path.with_name(f".pruned-{path.name}")
        if os.path.lexists(hidden):
            _delete(hidden)
            deleted = True
        if os.path.lexists(path):
            path.rename(hidden)
            _delete(hidden)
            deleted = True
    return deleted


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _paths(row: Pruned) -> Iterator[Path]:
    home, project = Home(Path(settings.EAGLE3_HOME)), row.run.project.slug
    folder = home.attempt(row.run_id, row.attempt.number) if row.attempt else None
    match row.kind:
        case Prunable.LOGS if folder:
            yield from (folder.log, folder.supervisor_log)
        case Prunable.EVENTS if folder:
            yield folder.events
        case Prunable.SHARDS:
            yield home.hidden(project, row.run_id)
        case Prunable.CHECKPOINTS if row.checkpoint and STEP.fullmatch(name := Path(row.checkpoint.path).name):
            yield home.checkpoints(project, row.run_id) / name
