"""The one door through which an attempt changes its status."""

from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Max

from eagle3web.domain import notifications, served_engines
from eagle3web.domain.clock import database_now
from eagle3web.enums import AttemptStatus, DatasetState, Stage
from eagle3web.models import Attempt, DatasetProgress, Lease, Run, Transition, User
from eagle3web.pokes import poke, project_topic, run_topic
from pipeline.artifacts import AttemptFolder


def mark(
    attempt: Attempt,
    *,
    old: Collection[str],
    new: AttemptStatus,
    reason: str = "",
    author: User | None = None,
    **fields: Any,
) -> bool:
    """Move an attempt from one of the statuses `old` to `new`; False when somebody was first, which is no error.

    Consequences, in one transaction:

    * a Transition row with reason and author;
    * people who want to know are told of an end (domain.notifications);
    * the run gets the same status, if this is its last attempt;
    * `fields` of the attempt are set with it; `attempt` itself is brought up to date;
    * a terminal status sets `ended_at`, frees the attempt's leases, ends its pause, and closes its datasets: none of them
      runs, and nothing is in flight; the engine of a serve run is switched off;
    * viewers are poked after the commit.

    A terminal status is final. Raises ValueError for a move that AttemptStatus.MOVES does not have.
    """
    impossible = [status for status in old if new not in AttemptStatus.MOVES.get(status, frozenset())]
    if impossible:
        raise ValueError(f"an attempt does not go from {', '.join(impossible)} to {new}")
    fields |= {"status": new, "reason": reason}
    if new in AttemptStatus.TERMINAL:
        fields = {"ended_at": database_now(), "paused": False, "waiting_for": ""} | fields
    with transaction.atomic():
        # Run before attempt, here and everywhere, so that two changes wait for each other and never in a circle.
        Run.objects.select_for_update(no_key=True).get(pk=attempt.run_id)
        row = Attempt.objects.select_for_update(no_key=True).filter(pk=attempt.pk, status__in=old).first()
        if row is None:
            return False
        Attempt.objects.filter(pk=row.pk).update(**fields)
        record_transition(row.run, attempt=row, old=row.status, new=new, reason=reason, author=author)
        if row.number == row.run.attempts.aggregate(last=Max("number"))["last"]:
            ends_pause = {"paused": False} if new in AttemptStatus.TERMINAL else {}
            Run.objects.filter(pk=row.run_id).update(status=new.value, **ends_pause)
        if new in AttemptStatus.TERMINAL:
            Lease.objects.filter(attempt=row).delete()
            close_datasets(row)
            if row.run.stage == Stage.SERVE:
                served_engines.retire(row)
    for name, value in fields.items():
        setattr(attempt, name, value)
    return True


def close_datasets(attempt: Attempt) -> None:
    """Say of every dataset of an ended attempt that nothing happens in it any more."""
    datasets = DatasetProgress.objects.filter(attempt=attempt)
    datasets.update(in_flight=0, in_flight_tokens=0, requests_per_s=0, tokens_per_s=0, eta_s=None)
    datasets.filter(state=DatasetState.RUNNING).update(state=DatasetState.STOPPED)


def record_transition(
    run: Run, *, old: str, new: str, reason: str, author: User | None, attempt: Attempt | None = None
) -> Transition:
    """Write the row of a change, tell people of an end, and poke viewers once it is committed."""
    at = database_now()
    change = Transition.objects.create(run=run, attempt=attempt, old=old, new=new, reason=reason, author=author, at=at)
    notifications.tell_of_end(change)
    announce(run)
    return change


def announce(run: Run) -> None:
    """Poke viewers of the run and of its project once the transaction is committed."""
    transaction.on_commit(partial(poke, run_topic(run.pk), project_topic(run.project_id)))


def folder_of(attempt: Attempt) -> AttemptFolder:
    return AttemptFolder(Path(attempt.folder))


def live_attempt(run: Run) -> Attempt | None:
    """The attempt that carries the run out right now."""
    return run.attempts.filter(status__in=AttemptStatus.LIVE).order_by("number").last()
