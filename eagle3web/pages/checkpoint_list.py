"""Which drafter is best? The table of a project's checkpoints, and how the best one became better."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator

from eagle3web.charts.checkpoints import timeline_figure
from eagle3web.domain.clock import database_now
from eagle3web.enums import Review
from eagle3web.live.records import Entry, Reading
from eagle3web.models import Checkpoint, Project
from eagle3web.pages import fragments
from eagle3web.pages.checkpoints import shown_checkpoints
from eagle3web.pages.rights import Rights
from eagle3web.pages.sorting import Column, heads
from eagle3web.pokes import project_topic
from eagle3web.queries import checkpoints
from eagle3web.queries.checkpoint_list import NONE, Wanted, listed, rows_of
from eagle3web.queries.checkpoint_timeline import timeline

PER_PAGE = 25
EVERYTHING = Wanted()
TABLE_FRAGMENT = {"checkpoints-table": "checkpoints/_table.html"}
LIST_FRAGMENTS = TABLE_FRAGMENT | {"c-timeline": "checkpoints/_timeline.html"}
COLUMNS = (
    Column(word="Checkpoint", key="step"),
    Column(word="State"),
    Column(
        word="Accept length",
        key="accept",
        number=True,
        title="Decoded for real; tokens for each verification, bonus token included",
    ),
    Column(
        word="Simulated",
        key="simulated",
        number=True,
        title="Teacher-forced on held-out answers; bonus token included. It overstates decoding",
    ),
    Column(
        word="Speedup",
        key="speedup",
        number=True,
        title="Against plain decoding of the same prompts by the same engine, measured beside it",
    ),
    Column(word="Held-out loss", key="loss", number=True, rising=True),
    Column(word="Data"),
    Column(word="Run", key="run"),
    Column(word="Size", key="size", number=True),
    Column(word="Saved", key="saved", number=True),
)


def _timeline_figure(project_id: int) -> dict[str, Any] | None:
    told = timeline(project_id)
    return timeline_figure(lengths=told.lengths, speedups=told.speedups, promotions=told.promotions)


def review_links(wanted: Wanted) -> list[tuple[str, str, bool]]:
    """The filter by review: word, address, and whether it is the one that stands."""
    words = {"": "All", **{state.value: state.label for state in Review}, NONE: "Not proposed"}
    kept = {"sort": wanted.sort, "deleted": "1" if wanted.deleted else ""}

    def address(review: str) -> str:
        return f"?{urlencode({name: value for name, value in (kept | {'review': review}).items() if value})}"

    return [(word, address(review), review == wanted.review) for review, word in words.items()]


@dataclass
class CheckpointsPage:
    """Reader of the first page of a project's checkpoints."""

    project_id: int
    may: Rights
    pokes: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.pokes = frozenset({project_topic(self.project_id)})

    def context(self, number: str = "1", wanted: Wanted = EVERYTHING) -> dict[str, Any]:
        """About ten queries."""
        rows = listed(self.project_id, wanted)
        page: Page[Checkpoint] = Paginator(rows, PER_PAGE).get_page(number)
        query = {"review": wanted.review, "deleted": "1" if wanted.deleted else ""}
        return {
            "may": self.may,
            "project": Project.objects.defer("chat_template").get(pk=self.project_id),
            "page": page,
            "with_deleted": wanted.deleted,
            "filtered": bool(wanted.review),
            "heads": heads(COLUMNS, wanted.sort, query),
            "query": urlencode({name: value for name, value in (query | {"sort": wanted.sort}).items() if value}),
            "deleted": checkpoints.count_deleted(self.project_id),
            "checkpoints": shown_checkpoints(rows_of(page.object_list)),
            "timeline_figure": _timeline_figure(self.project_id),
        }

    def read(self, now: datetime) -> Reading:
        context = self.context()
        found = fragments.render(LIST_FRAGMENTS if context["timeline_figure"] else TABLE_FRAGMENT, context)
        return Reading(fragments=found, title="Checkpoints", now=database_now())

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0
