"""Engines, and hosts with what works there."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from eagle3web.enums import AttemptStatus, EngineState
from eagle3web.formats import duration
from eagle3web.models import Attempt, Engine, Host, Lease

STALE_AFTER = timedelta(seconds=30)
"""Engines are checked every 5 s. What was found longer ago than this says nothing about now."""


@dataclass(frozen=True)
class HostWork:
    host: Host
    attempts: list[Attempt]
    """At work there."""
    leases: list[Lease]


def all_engines(now: datetime) -> list[Engine]:
    """Switched-on ones first, by name; `now` is the database's. One query."""
    return as_known(Engine.objects.order_by("-enabled", "name"), now)


def as_known(rows: Iterable[Engine], now: datetime) -> list[Engine]:
    """The engines as they are to be shown: one that nobody has checked lately is unknown, whatever was found before."""
    found = list(rows)
    for engine in found:
        age = None if engine.checked_at is None else now - engine.checked_at
        if age is not None and age > STALE_AFTER:
            engine.state, engine.state_since = EngineState.UNKNOWN, None
            engine.reason = f"not checked for {duration(age.total_seconds())}: no worker is heard"
            engine.running = engine.waiting = 0
            engine.tokens_per_s = None
    return found


def hosts_with_work() -> list[HostWork]:
    """Every host by name. Three queries."""
    attempts, leases = list(_attempts()), list(_leases())
    return [
        HostWork(
            host,
            [attempt for attempt in attempts if attempt.host == host.name],
            [lease for lease in leases if lease.host == host.name],
        )
        for host in Host.objects.order_by("name")
    ]


def host_with_work(host: Host) -> HostWork:
    """Two queries."""
    return HostWork(host, list(_attempts().filter(host=host.name)), list(_leases().filter(host=host.name)))


def _attempts() -> QuerySet[Attempt]:
    live = Attempt.objects.filter(status__in=AttemptStatus.LIVE).order_by("run", "number")
    return live.select_related("run").defer("config", "versions", "argv", "run__config")


def _leases() -> QuerySet[Lease]:
    held = Lease.objects.order_by("device").select_related("attempt__run")
    return held.defer("attempt__config", "attempt__versions", "attempt__argv", "attempt__run__config")
