"""The counts beside the menu and the bell, live on every page."""

from dataclasses import dataclass, field
from datetime import datetime

from eagle3web.domain.clock import database_now
from eagle3web.live.records import Entry, Reading
from eagle3web.pages import fragments
from eagle3web.pages.project_needs import needs_of, trouble
from eagle3web.pokes import ENGINES, project_topic
from eagle3web.queries.nav import nav_counts

FRAGMENTS = {
    "nav-runs": "shell/_count_runs.html",
    "nav-checkpoints": "shell/_count_checkpoints.html",
    "nav-benchmarks": "shell/_count_benchmarks.html",
    "nav-engines": "shell/_count_engines.html",
    "nav-datasets": "shell/_count_datasets.html",
    "bell": "shell/_bell.html",
}


@dataclass
class NavPage:
    """Reader of the menu; project 0 stands for none."""

    project_id: int
    pokes: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.pokes = frozenset({ENGINES, project_topic(self.project_id)})

    def read(self, now: datetime) -> Reading:
        now = database_now()
        needs, look_again = needs_of(self.project_id, now)
        context = {"nav": nav_counts(self.project_id), "trouble": trouble(needs)}
        return Reading(fragments=fragments.render(FRAGMENTS, context), look_again=look_again, now=now)

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0
