"""Engines and hosts: which servers, are they healthy, what did they do lately?"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from eagle3web.charts.machines import engine_figure
from eagle3web.domain.clock import database_now
from eagle3web.live.records import Batch, Entry, Reading
from eagle3web.models import EngineSample
from eagle3web.pages import fragments
from eagle3web.pages.hosts import shown_hosts, window
from eagle3web.pages.rights import Rights
from eagle3web.pokes import ENGINES
from eagle3web.queries import engines, machines

FRAGMENTS = {"engines-table": "engines/_table.html", "engines-hosts": "engines/_hosts.html"}
FIGURES = (("rate", "Tokens per second"), ("queue", "Requests in the queue"), ("accept", "Accept length"))


@dataclass
class EnginesPage:
    """Reader of all engines and hosts."""

    may: Rights
    pokes: frozenset[str] = frozenset({ENGINES})
    _charted: list[tuple[int, str]] = field(default_factory=list)
    _last_point: int | None = None

    def context(self) -> dict[str, Any]:
        """Four queries."""
        return {
            "may": self.may,
            "engines": engines.all_engines(database_now()),
            "hosts": shown_hosts(engines.hosts_with_work()),
        }

    def details(self, span: machines.Span) -> dict[str, Any]:
        """Charts up to now. Three queries."""
        charted, now = machines.charted_engines(), database_now()
        last = machines.newest_number(EngineSample)
        lines = machines.engine_lines([key for key, _ in charted], span, now)
        told = {name.partition("/")[0] for name, points in lines.items() if any(value is not None for _, value in points)}
        return {
            "charted": charted,
            "figures": [
                (f"c-{what}", title, engine_figure(lines, what, charted, window(span, now)))
                for what, title in FIGURES
                if what in told
            ],
            "points_after": last,
            "span": span,
            "spans": machines.SPANS.values(),
        }

    def read(self, now: datetime) -> Reading:
        context = self.context()
        down = sum(engine.state in ("down", "hanging") for engine in context["engines"] if engine.enabled)
        title = f"({down}) Engines and hosts" if down else "Engines and hosts"
        return Reading(
            fragments=fragments.render(FRAGMENTS, context),
            title=title,
            now=database_now(),
            streams={"points": self._read_points()},
        )

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return machines.engine_points_after([key for key, _ in self._charted], after, up_to=up_to), 0

    def _read_points(self) -> Batch:
        self._charted = machines.charted_engines()
        if self._last_point is None:
            self._last_point = machines.newest_number(EngineSample)
        after = self._last_point
        found = machines.engine_points_after([key for key, _ in self._charted], after)
        self._last_point = found[-1][0] if found else after
        return Batch(after, found)
