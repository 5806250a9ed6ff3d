"""What Celery carries: primary keys in, one domain call, and a log line when the row has gone.

Every task lasts seconds and may be lost, late or delivered twice: `reconcile` makes up for the first two, compare-and-set in
the domain for the third. A broker that is away is no error for whoever sends (eagle3web.celery.Message).
"""

import logging
import threading
import time
from functools import partial
from typing import Any

from celery import shared_task
from celery.signals import worker_ready
from django.conf import settings
from django.db import connection, transaction

from eagle3web.domain import (
    datasets,
    deliveries,
    engines,
    hosts,
    launch,
    lineage,
    notifications,
    placement,
    pruning,
    thinning,
)
from eagle3web.domain import reconcile as reconciling
from eagle3web.domain.clock import database_now
from eagle3web.domain.outages import Patient
from eagle3web.models import Run

BEAT_S = 10
"""How often beat sends `reconcile`; a message that waited longer is superseded by the next one."""
UNASKED_S = 20.0
"""Between two looks of a worker whether somebody still asks its host to report."""
log = logging.getLogger(__name__)


def launch_soon(run: Run) -> None:
    """Send the message that launches a queued run, once the transaction is committed.

    With the broker away that fails, which is only logged: the run is queued, and beat launches it when the broker is back.
    """
    transaction.on_commit(partial(launch_run.delay, run.pk, run.attempts.count() + 1), robust=True)


def launch_followers(run: Run) -> None:
    """Send the messages for the runs that only waited for this one; none while it is not finished."""
    for follower in lineage.ready_followers(run):
        launch_soon(follower)


@shared_task
def launch_run(run_id: int, number: int) -> None:
    """Find the host for attempt `number` of a run, and start it there. With none it stays queued; beat asks again."""
    run = Run.objects.filter(pk=run_id).first()
    if run is not None:
        last = placement.last_hosts([run]).get(run.pk, "")
        place = placement.Hosts.read(heard=settings.EAGLE3_HOST).place(run, last_host=last)
        if place.host == settings.EAGLE3_HOST:
            launch.launch(run_id, number)
        elif place.host:
            launch_here.apply_async((run_id, number), **_to(place.host))


@shared_task
def launch_here(run_id: int, number: int) -> None:
    """Start attempt `number` of a run on this host, which was found for it; not if somebody was faster than the message."""
    launch.launch(run_id, number)


@shared_task
def reconcile() -> None:
    """Ask every host to look after its own, judge the silent ones, and launch what nobody launched."""
    listening = hosts.listening()
    for host in listening:
        reconcile_host.apply_async(**_to(host), expires=BEAT_S)
    for found in reconciling.forgotten_launches():
        launch_here.apply_async((found.run_id, found.number), **_to(found.host), expires=BEAT_S)
    datasets.fail_abandoned_imports()


@shared_task
def reconcile_host() -> None:
    """Compare this host's attempts with its processes; what was found to be finished lets its followers start."""
    for ended in (*reconciling.reconcile_host(), *reconciling.reconcile_silent_hosts()):
        launch_followers(ended.run)


@shared_task
def check_engines() -> None:
    """Ask every engine whether it generates."""
    engines.check_all()


@shared_task
def send_notifications() -> None:
    """Tell people of runs that fell silent, and send everything that waits to be sent."""
    notifications.tell_of_silence(database_now())
    deliveries.send_due()


@shared_task
def sample_host() -> None:
    """Ask every host to report."""
    for host in hosts.listening():
        report_host.apply_async(**_to(host), expires=BEAT_S / 2)


@shared_task
def report_host() -> None:
    """Write down what this host has and that it was heard."""
    hosts.report()


@shared_task
def thin_samples() -> None:
    """Keep old samples of hosts and engines at wider and wider intervals, and delete the oldest."""
    thinning.thin_samples()
    deliveries.forget_old()


@shared_task
def prune() -> None:
    """Give up what the rules find, and let every host delete what it has of it. Nothing while no rule is switched on."""
    pruning.prune_all()
    remove_everywhere()


@shared_task
def remove_pruned() -> None:
    """Delete what this host has of pruned things, some at a time."""
    if not pruning.remove():
        remove_pruned.apply_async(**_to(settings.EAGLE3_HOST))


def remove_everywhere() -> None:
    """Ask every host to delete what it has of pruned things, copies too; any one will do for rows of the database."""
    if not pruning.has_any():
        return
    remove_pruned.apply_async()
    for host in hosts.listening():
        remove_pruned.apply_async(**_to(host))


@worker_ready.connect
def begin(**_signal: Any) -> None:
    """A worker that starts reports itself and looks after what an earlier one left behind, broker or not."""
    hosts.report()
    reconciling.reconcile_host()
    pruning.remove(time_s=5)
    connection.close()


@worker_ready.connect
def keep_reporting(**_signal: Any) -> None:
    """Report also when nobody asks, for as long as the worker lives."""
    threading.Thread(target=_report_unasked, name="reports", daemon=True).start()


def _report_unasked() -> None:
    """For as long as the worker lives: nobody may ask this host any more, and it must be heard all the same."""
    patient = Patient()
    while True:
        time.sleep(UNASKED_S)
        patient.does(hosts.report_unasked)
        connection.close()


def _to(host: str) -> dict[str, Any]:
    """Routing options: the queue of a host."""
    return {"queue": f"host.{host}"}
