"""Which host takes a queued run, and which of its devices.

A host takes a run when it is heard, not drained, has every tag that the run asks for and its devices free. Of several that do,
the one takes it that carried out the run's last attempt, since its disk has the files; else the least busy one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings

from eagle3web.domain.clock import database_now
from eagle3web.domain.health import WORKER_LOST_S
from eagle3web.domain.plans.devices import ANY_DEVICE
from eagle3web.enums import AttemptStatus
from eagle3web.formats import duration
from eagle3web.models import Attempt, Host, Lease, Run
from eagle3web.text import visible

NAMED = 3
"""Hosts that a sentence names; of the others it says how many there are."""


@dataclass(frozen=True)
class Place:
    """Where a run would start now."""

    host: str = ""
    """Empty when no host takes it."""
    devices: tuple[str, ...] = ()
    """What it would hold there, each by its own name."""
    waits: str = ""
    """Why no host takes it, as a sentence about the run."""


@dataclass
class Spot:
    """One host, as far as it matters to placing."""

    host: Host
    heard: bool
    held: dict[str, str] = field(default_factory=dict)
    """Device → who holds it."""
    busy: int = 0
    """Attempts at work."""

    @property
    def gpus(self) -> list[str]:
        told = self.host.sample.get("gpus")
        return [f"cuda:{gpu['index']}" for gpu in told if "index" in gpu] if isinstance(told, list) else []


class Hosts:
    """All hosts as they stand now, read once."""

    def __init__(self, spots: Iterable[Spot], now: datetime) -> None:
        self._spots = {spot.host.name: spot for spot in spots}
        self._now = now

    @classmethod
    def read(cls, names: Sequence[str] = (), *, heard: str = "") -> Self:
        """Those with these names, else all. `heard` is not judged: whoever asks from there hears itself. Three queries."""
        now = database_now()
        rows = Host.objects.select_related("drained_by").order_by("name")
        rows = rows.filter(name__in=names) if names else rows
        limit = now - timedelta(seconds=WORKER_LOST_S)
        spots = {heard: Spot(Host(name=heard), heard=True)} if heard else {}
        for row in rows:
            is_heard = row.name == heard or (row.seen_at is not None and row.seen_at > limit)
            spots[row.name] = Spot(row, is_heard)
        for lease in Lease.objects.filter(host__in=spots).select_related("attempt"):
            spots[lease.host].held[lease.device] = str(lease.attempt)
        live = Attempt.objects.filter(status__in=AttemptStatus.LIVE, host__in=spots)
        for name, count in Counter(live.values_list("host", flat=True)).items():
            spots[name].busy = count
        return cls(spots.values(), now)

    def place(self, run: Run, *, last_host: str = "") -> Place:
        """Where the run would start."""
        spots = [spot for spot in self._spots.values() if run.host in ("", spot.host.name)]
        judged = [(spot, *self._judge(run, spot)) for spot in spots]
        able = [(spot, devices) for spot, devices, why in judged if not why]
        if not able:
            return Place(waits=self._waits(run, [(spot, why) for spot, _, why in judged]))
        spot, devices = min(able, key=lambda found: (found[0].host.name != last_host, found[0].busy, found[0].host.name))
        return Place(host=spot.host.name, devices=tuple(devices))

    def keep(self, place: Place, run: Run) -> None:
        """Count the place as taken, for what is placed after it."""
        spot = self._spots[place.host]
        spot.held |= dict.fromkeys(place.devices, str(run))
        spot.busy += 1

    def _judge(self, run: Run, spot: Spot) -> tuple[list[str], str]:
        """The devices that the run would hold there, and why it cannot start there; one of the two is empty or both are."""
        host = spot.host
        if not spot.heard:
            silent = duration((self._now - host.seen_at).total_seconds()) if host.seen_at else ""
            return [], f"was not heard for {silent}" if silent else "was never heard"
        if host.drained_at is not None:
            return [], f"is drained by {host.drained_by}" if host.drained_by else "is drained"
        if missing := [tag for tag in run.host_tags if tag not in host.tags]:
            return [], f"has no tag {', '.join(missing)}"
        return pick(run.devices, spot, only_here=bool(run.host))

    def _waits(self, run: Run, judged: list[tuple[Spot, str]]) -> str:
        if run.host:
            why = judged[0][1] if judged else "was never heard"
            return f"waits for {visible(run.host)}, which {why}"
        heard = [(spot, why) for spot, why in judged if spot.heard]
        if not heard:
            return "no worker was heard of for a while, so nothing can start; start one on a GPU host"
        named = [f"{visible(spot.host.name)} {why}" for spot, why in heard[:NAMED]]
        more = [f"and {len(heard) - NAMED} more"] if len(heard) > NAMED else []
        return f"waits for a host: {'; '.join(named + more)}"


def pick(asked: Sequence[str], spot: Spot, *, only_here: bool) -> tuple[list[str], str]:
    """Devices of a host for what is asked, each once; else why not. A run that may start `only_here` names devices as it likes:
    a GPU that the host does not report is for the stage to find, or not."""
    named = [device for device in asked if device != ANY_DEVICE]
    for device in named:
        if device in spot.held:
            return [], f"has lent {device} to {spot.held[device]}"
        if device.startswith("cuda:") and device not in spot.gpus and not only_here:
            return [], f"has no {device}"
    wanted = len(asked) - len(named)
    free = [device for device in spot.gpus if device not in spot.held and device not in named]
    if len(free) < wanted:
        return [], f"has {len(free)} free of {len(spot.gpus)} GPUs, and {wanted} are asked for" if spot.gpus else "has no GPU"
    return named + free[:wanted], ""


def here(run: Run) -> Place:
    """Where on this host the run would start. Call it in the transaction that takes the devices: this host's row is locked
    until its end, so that two launches, or a launch and a drain, come one after the other."""
    mine: str = settings.EAGLE3_HOST
    list(Host.objects.select_for_update(no_key=True).filter(name=mine).values_list("pk"))
    return Hosts.read([mine], heard=mine).place(run)


def last_hosts(runs: Iterable[Run]) -> dict[int, str]:
    """Run → the host of its last attempt; runs that never started are not among them. One query."""
    return dict(Attempt.objects.filter(run__in=runs).order_by("number").values_list("run_id", "host"))
