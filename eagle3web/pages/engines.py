"""Engines and hosts: which servers, are they healthy?"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from eagle3web.domain.clock import database_now
from eagle3web.live.records import Entry, Reading
from eagle3web.pages import fragments
from eagle3web.pages.rights import Rights
from eagle3web.pokes import ENGINES
from eagle3web.queries import engines

FRAGMENTS = {"engines-table": "engines/_table.html", "engines-hosts": "engines/_hosts.html"}


@dataclass
class EnginesPage:
    """Reader of all engines and hosts."""

    may: Rights
    pokes: frozenset[str] = frozenset({ENGINES})

    def context(self) -> dict[str, Any]:
        """Three queries."""
        return {"may": self.may, "engines": engines.all_engines(), "hosts": engines.hosts_with_work()}

    def read(self, now: datetime) -> Reading:
        context = self.context()
        down = sum(engine.state in ("down", "hanging") for engine in context["engines"] if engine.enabled)
        title = f"({down}) Engines" if down else "Engines"
        return Reading(fragments=fragments.render(FRAGMENTS, context), title=title, now=database_now())

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0
