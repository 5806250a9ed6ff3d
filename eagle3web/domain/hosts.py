"""Machines with a worker: what they have, and when they were last heard."""

import shutil
from datetime import UTC, datetime, timedelta
from typing import Any

import psutil
from django.conf import settings
from django.db import transaction

from eagle3web import pokes
from eagle3web.domain import audit, procfs
from eagle3web.domain.clock import database_now
from eagle3web.domain.cpu import CpuMeter
from eagle3web.domain.gpus import gpus
from eagle3web.models import Host, HostSample, User

GAP = timedelta(seconds=15)
"""Reports come every five seconds; more than this between two of them is a gap."""
KEPT = ("cpu_percent", "memory_used", "memory_total", "disk_free", "disk_total", "gpus")
"""What of a report becomes a sample."""
FORGOTTEN_AFTER = timedelta(minutes=5)
"""A host that was silent for so long gets no more messages: they would wait for it in vain."""
UNASKED = timedelta(minutes=1)
"""A host that was not asked for so long reports by itself."""
REASON_LIMIT = 200
"""Characters."""
_cpu = CpuMeter()


def report() -> Host:
    """Write this host's row: that it is heard, since when without a gap, and what it has. The same is kept as a sample."""
    now = database_now()
    before = Host.objects.filter(name=settings.EAGLE3_HOST).first()
    steady = before and before.seen_at and now - before.seen_at < GAP and before.steady_since
    found = sample()
    fields = {
        "boot_id": procfs.boot_id(),
        "seen_at": now,
        "steady_since": steady or now,
        "sample": found,
        "tags": settings.EAGLE3_HOST_TAGS,
        "clock_ahead_s": round((datetime.now(UTC) - now).total_seconds(), 1),
    }
    host = Host.objects.update_or_create(name=settings.EAGLE3_HOST, defaults=fields)[0]
    HostSample.objects.create(host=host, at=now, **{name: found[name] for name in KEPT})
    return host


def report_unasked() -> bool:
    """Report although nobody asked, when nobody did for a while; whether it was so.

    Whoever asks leaves out hosts that were silent for long. After an outage of broker, beat or database, or a clock that was
    put right, that would be all of them, for ever.
    """
    heard = Host.objects.filter(name=settings.EAGLE3_HOST, seen_at__gte=database_now() - UNASKED).exists()
    if not heard:
        report()
    return not heard


def drain(host: Host, *, user: User | None, reason: str = "") -> bool:
    """Give the host no new attempt; what works there goes on to its end. False: it was drained already.

    Consequences: an audit entry; queued runs that name the host, or that no other host takes, wait and say so.
    """
    with transaction.atomic():
        # The row is what a launch on that host holds while it takes its devices.
        row = Host.objects.select_for_update(no_key=True).get(pk=host.pk)
        if row.drained_at is not None:
            return False
        Host.objects.filter(pk=row.pk).update(drained_at=database_now(), drained_by=user, drain_reason=reason[:REASON_LIMIT])
        audit.record(user, "host.drain", row, host=row.name, reason=reason[:REASON_LIMIT])
    transaction.on_commit(lambda: pokes.poke(pokes.ENGINES))
    host.refresh_from_db()
    return True


def undrain(host: Host, *, user: User | None) -> bool:
    """Let the host take attempts again; False: it does. What is queued is launched by the next reconcile."""
    with transaction.atomic():
        row = Host.objects.select_for_update(no_key=True).get(pk=host.pk)
        if row.drained_at is None:
            return False
        Host.objects.filter(pk=row.pk).update(drained_at=None, drained_by=None, drain_reason="")
        audit.record(user, "host.undrain", row, host=row.name)
    transaction.on_commit(lambda: pokes.poke(pokes.ENGINES))
    host.refresh_from_db()
    return True


def listening() -> list[str]:
    """Names of the hosts whose worker was heard of late."""
    recent = Host.objects.filter(seen_at__gte=database_now() - FORGOTTEN_AFTER)
    return list(recent.values_list("name", flat=True))


def sample() -> dict[str, Any]:
    """Load of this host now. Sizes in bytes."""
    memory = psutil.virtual_memory()
    disk = shutil.disk_usage(settings.EAGLE3_HOME)
    return {
        "cpu_percent": _cpu.percent(),
        "cpu_count": psutil.cpu_count(),
        "memory_used": memory.total - memory.available,
        "memory_total": memory.total,
        "disk_free": disk.free,
        "disk_total": disk.total,
        "gpus": gpus(),
    }
