"""Engines, and hosts with what works there."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

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


def all_engines() -> list[Engine]:
    """Switched-on ones first, by name. One query."""
    return as_known(Engine.objects.order_by("-enabled", "name"))


def as_known(rows: Iterable[Engine]) -> list[Engine]:
    """The engines as they are to be shown: one that nobody has checked lately is unknown, whatever was found before."""
    found = list(rows)
    for engine in found:
        age = None if engine.checked_at is None else timezone.now() - engine.checked_at
        if age is not None and age > STALE_AFTER:
            engine.state, engine.state_since = EngineState.UNKNOWN, None
            engine.reason = f"not checked for {duration(age.total_seconds())}: no worker is heard"
            engine.running = engine.waiting = 0
            engine.tokens_per_s = None
    return found


def hosts_with_work() -> list[HostWork]:
    """Three queries."""
    attempts = list(Attempt.objects.filter(status__in=AttemptStatus.LIVE).select_related("run").defer("config", "versions"))
    leases = list(Lease.objects.order_by("device"))
    return [
        HostWork(
            host,
            [attempt for attempt in attempts if attempt.host == host.name],
            [lease for lease in leases if lease.host == host.name],
        )
        for host in Host.objects.order_by("name")
    ]
