"""What was decided, compared with what is: attempts whose process is gone, and queued runs that nobody launched.

Every host judges its own attempts, because only it can see their processes. The silence of another host's attempt is judged
only when that host itself is silent.
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db.models import Max, Q

from eagle3web.domain import attempts, lineage, placement, procfs, verdict
from eagle3web.domain.clock import database_now
from eagle3web.domain.event_lines import last_word
from eagle3web.domain.ingest import Ingestor
from eagle3web.domain.log_shipper import LogShipper
from eagle3web.domain.stage_process import kill_processes
from eagle3web.enums import AttemptStatus, RunStatus
from eagle3web.models import Attempt, Host, Run

START_GRACE = timedelta(seconds=20)
"""How long a worker may take from writing an attempt to starting its supervisor."""
LATE = timedelta(days=1)
"""How long files of lost attempts are looked at for lines that came late."""
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Launch:
    """A message that should have been sent: attempt `number` of a queued run, to the host that would take it."""

    run_id: int
    number: int
    host: str


def reconcile_host() -> list[Attempt]:
    """End the attempts of this host whose supervisor is gone; those that were ended.

    What is left in their files is stored first, and the stage's own last word decides: only without one is it lost. An
    attempt that another host gave up, while this one could not be heard, gets what its files have more.
    """
    here = Attempt.objects.filter(host=settings.EAGLE3_HOST).select_related("run")
    live = here.filter(status__in=AttemptStatus.LIVE)
    ended = [attempt for attempt in live if _why_gone(attempt) and _bury(attempt)]
    for attempt in here.filter(status=AttemptStatus.LOST, ended_at__gte=database_now() - LATE):
        if _has_rest(attempt) and _why_gone(attempt):
            _store_late(attempt)
    return ended


def reconcile_silent_hosts() -> list[Attempt]:
    """End the attempts of other hosts of which, and of whose host, nothing was heard for EAGLE3_LOST_AFTER; those ended.

    A host that could not report itself all that time does not judge: the database was away, for others as well.
    """
    now = database_now()
    before = now - timedelta(seconds=settings.EAGLE3_LOST_AFTER)
    if not Host.objects.filter(name=settings.EAGLE3_HOST, steady_since__lt=before).exists():
        return []
    heard = Host.objects.filter(seen_at__gte=before).values("name")
    unheard = Q(heartbeat_at__lt=before) | Q(heartbeat_at=None, created_at__lt=before)
    others = Attempt.objects.filter(unheard, status__in=AttemptStatus.LIVE).exclude(host=settings.EAGLE3_HOST)
    return [attempt for attempt in others.exclude(host__in=heard) if _mark_silent(attempt, now)]


def forgotten_launches() -> list[Launch]:
    """Queued runs that wait for no other one and that a host takes, as the messages that would launch them: the first ones may
    be lost, and one too many does no harm. The oldest run gets its devices first."""
    queued = Run.objects.filter(~lineage.is_held(), status=RunStatus.QUEUED).defer("config").order_by("id")
    waiting = list(queued.annotate(last=Max("attempts__number")))
    if not waiting:
        return []
    # Whoever asks is a worker, and alive.
    hosts, before = placement.Hosts.read(heard=settings.EAGLE3_HOST), placement.last_hosts(waiting)
    found = []
    for run in waiting:
        place = hosts.place(run, last_host=before.get(run.pk, ""))
        if place.host:
            hosts.keep(place, run)
            found.append(Launch(run.pk, (run.last or 0) + 1, place.host))
    return found


def _why_gone(attempt: Attempt) -> str:
    """Why nobody supervises this attempt of our host; empty while somebody does."""
    if attempt.boot_id != procfs.boot_id():
        return "lost: its host was restarted"
    if attempt.supervisor_pid is None:
        late = database_now() - attempt.created_at > START_GRACE
        return "lost: its supervisor never started; the worker that launched it is gone" if late else ""
    if procfs.is_alive(attempt.supervisor_pid, attempt.supervisor_started):
        return ""
    return f"lost: its supervisor (pid {attempt.supervisor_pid}) is gone"


def _bury(attempt: Attempt) -> bool:
    """Kill what is left of the attempt, store what it said, and mark it; whether it was us who did."""
    # Its supervisor may have ended it and then itself while we looked, or have begun.
    attempt.refresh_from_db()
    reason = _why_gone(attempt)
    if attempt.status in AttemptStatus.TERMINAL or not reason:
        return False
    folder = attempts.folder_of(attempt)
    if killed := kill_processes(folder):
        reason += f"; {len(killed)} of its processes still ran and were killed"
    found = verdict.judge_unseen(None, reason=f"{reason}; its files could not be read")
    try:
        _store_rest(attempt)
        published = not settings.EAGLE3_ARTIFACTS or folder.published.exists()
        found = verdict.judge_unseen(last_word(folder.events), reason=reason, published=published)
    finally:
        # Whatever is wrong with its files, it is not running.
        log.warning("%s: %s", attempt, found.reason or found.status)
        ended = attempts.mark(attempt, old=AttemptStatus.LIVE, new=found.status, reason=found.reason)
    return ended


def _has_rest(attempt: Attempt) -> bool:
    """Whether the files of an attempt hold more than the database."""
    folder = attempts.folder_of(attempt)
    return _size(folder.events) > attempt.events_offset or _size(folder.log) > attempt.log_bytes


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _store_late(attempt: Attempt) -> None:
    try:
        _store_rest(attempt)
    except OSError:
        log.exception("the files of %s cannot be read", attempt)


def _store_rest(attempt: Attempt) -> None:
    ingestor, shipper = Ingestor(attempt), LogShipper(attempt)
    while ingestor.store():
        pass
    while shipper.ship(ended=True):
        pass


def _mark_silent(attempt: Attempt, now: datetime) -> bool:
    silent = (now - (attempt.heartbeat_at or attempt.created_at)).total_seconds()
    reason = f"lost: nothing was heard of it or of its host {attempt.host} for {silent:.0f} s"
    log.warning("%s: %s", attempt, reason)
    return attempts.mark(attempt, old=AttemptStatus.LIVE, new=AttemptStatus.LOST, reason=reason)
