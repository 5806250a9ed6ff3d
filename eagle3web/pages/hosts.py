"""One host: is it heard, what works there, who holds its devices, what did it do lately?"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from eagle3web.charts.machines import Window, gpu_figure, load_figure
from eagle3web.domain.clock import database_now
from eagle3web.domain.health import WORKER_LOST_S
from eagle3web.formats import duration
from eagle3web.live.records import Batch, Entry, Reading
from eagle3web.models import Host, HostSample
from eagle3web.pages import fragments
from eagle3web.pages.needs import DISK_SHARE
from eagle3web.pages.rights import Rights
from eagle3web.pokes import ENGINES
from eagle3web.queries import engines, machines
from eagle3web.queries.points import milliseconds

CLOCK_OFF_S = 5.0
"""A clock that is farther from the database's than this is told."""
FRAGMENTS = {"host-head": "hosts/_head.html", "host-stats": "hosts/_stats.html", "host-work": "hosts/_work.html"}


@dataclass(frozen=True)
class ShownHost:
    """A host as pages show it: judged by when it was last heard."""

    work: engines.HostWork
    now: datetime

    @property
    def host(self) -> Host:
        return self.work.host

    @property
    def lost_at(self) -> datetime | None:
        """When it counts as away, unless it is heard before."""
        return self.host.seen_at and self.host.seen_at + timedelta(seconds=WORKER_LOST_S)

    @property
    def is_heard(self) -> bool:
        return self.lost_at is not None and self.now < self.lost_at

    @property
    def memory_share(self) -> float | None:
        return _share(self.host.sample.get("memory_used"), self.host.sample.get("memory_total"))

    @property
    def disk_used(self) -> int | None:
        free, total = self.host.sample.get("disk_free"), self.host.sample.get("disk_total")
        return None if free is None or total is None else total - free

    @property
    def disk_share(self) -> float | None:
        """Of the disk that is used."""
        return _share(self.disk_used, self.host.sample.get("disk_total"))

    @property
    def is_disk_low(self) -> bool:
        return self.disk_share is not None and 1 - self.disk_share < DISK_SHARE

    @property
    def clock_words(self) -> str:
        """Of a clock that is wrong enough to mislead whoever reads its logs; else empty."""
        ahead = self.host.clock_ahead_s or 0.0
        if abs(ahead) < CLOCK_OFF_S:
            return ""
        return f"Its clock is {duration(abs(ahead))} {'ahead of' if ahead > 0 else 'behind'} the database's"

    @property
    def gpus(self) -> list[dict[str, Any]]:
        """Each with the run that holds it, where one does."""
        told = self.host.sample.get("gpus")
        holders = {lease.device: lease for lease in self.work.leases}
        found = [gpu for gpu in told if isinstance(gpu, dict)] if isinstance(told, list) else []
        return [
            gpu
            | {
                "share": _share(gpu.get("memory_used"), gpu.get("memory_total")),
                "lease": holders.get(f"cuda:{gpu.get('index')}"),
            }
            for gpu in found
        ]


def shown_hosts(found: Iterable[engines.HostWork]) -> list[ShownHost]:
    now = database_now()
    return [ShownHost(work, now) for work in found]


def window(span: machines.Span, now: datetime) -> Window:
    return Window(now_ms=milliseconds(now), length_ms=span.seconds * 1000, gap_ms=span.gap_s * 1000)


@dataclass
class HostPage:
    """Reader of one host. Raises Host.DoesNotExist."""

    host_id: int
    may: Rights
    pokes: frozenset[str] = frozenset({ENGINES})
    _last_point: int | None = field(default=None)

    def context(self) -> dict[str, Any]:
        """Three queries."""
        work = engines.host_with_work(Host.objects.select_related("drained_by").get(pk=self.host_id))
        return {"may": self.may, "shown": ShownHost(work, database_now())}

    def details(self, shown: ShownHost, span: machines.Span) -> dict[str, Any]:
        """Charts up to now. Two queries."""
        now = database_now()
        last = machines.newest_number(HostSample)
        lines = machines.host_lines(self.host_id, span, now)
        indexes = sorted({int(name.partition("/")[2]) for name in lines if name.startswith("gpu/")})
        figures = [("c-load", "CPU, memory and disk", load_figure(lines, window(span, now)))]
        if indexes:
            figures.append(("c-gpu", "GPU utilisation", gpu_figure(lines, "gpu", indexes, window(span, now))))
            figures.append(("c-gpu-memory", "GPU memory", gpu_figure(lines, "gpu-memory", indexes, window(span, now))))
        return {"figures": figures, "points_after": last, "span": span, "spans": machines.SPANS.values()}

    def read(self, now: datetime) -> Reading:
        context = self.context()
        shown: ShownHost = context["shown"]
        return Reading(
            fragments=fragments.render(FRAGMENTS, context),
            title=title(shown),
            now=shown.now,
            look_again=shown.lost_at if shown.is_heard else None,
            streams={"points": self._read_points()},
        )

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return list(machines.host_points_after(self.host_id, after, up_to=up_to)), 0

    def _read_points(self) -> Batch:
        if self._last_point is None:
            self._last_point = machines.newest_number(HostSample)
        after = self._last_point
        found = machines.host_points_after(self.host_id, after)
        self._last_point = found[-1][0] if found else after
        return Batch(after, found)


def title(shown: ShownHost) -> str:
    """What the tab says, trouble first."""
    name = shown.host.name
    if not shown.is_heard:
        return f"not heard · {name}"
    return f"disk low · {name}" if shown.is_disk_low else name


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else min(1.0, part / whole)
