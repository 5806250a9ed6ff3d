"""Engines, and hosts with what works there."""

from dataclasses import dataclass

from eagle3web.enums import AttemptStatus
from eagle3web.models import Attempt, Engine, Host, Lease


@dataclass(frozen=True)
class HostWork:
    host: Host
    attempts: list[Attempt]
    """At work there."""
    leases: list[Lease]


def all_engines() -> list[Engine]:
    """Switched-on ones first, by name. One query."""
    return list(Engine.objects.order_by("-enabled", "name"))


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
