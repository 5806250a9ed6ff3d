"""Names of what a page can look at (`run/12/2`, `project/3`, `engines`), and who may."""

import re
from collections.abc import Callable

from eagle3web.live.records import Reader
from eagle3web.pages.benchmarks import BenchmarkPage, BenchmarksPage
from eagle3web.pages.budgets import BudgetsPage
from eagle3web.pages.checkpoint_list import CheckpointsPage
from eagle3web.pages.checkpoints import CheckpointPage
from eagle3web.pages.datasets import DatasetPage, DatasetsPage
from eagle3web.pages.engines import EnginesPage
from eagle3web.pages.hosts import HostPage
from eagle3web.pages.nav import NavPage
from eagle3web.pages.overview import OverviewPage
from eagle3web.pages.rights import LOOK, Rights
from eagle3web.pages.run import RunPage
from eagle3web.pages.run_list import RunListPage

Opener = Callable[[Rights, tuple[int, ...]], Reader]

ID = r"(\d{1,15})"
TOPICS: dict[str, Opener] = {
    f"project/{ID}": lambda may, ids: OverviewPage(ids[0], may),
    f"budgets/{ID}": lambda may, ids: BudgetsPage(ids[0], may),
    f"runs/{ID}/{ID}": lambda may, ids: RunListPage(ids[0], ids[1], may),
    f"run/{ID}/{ID}": lambda may, ids: RunPage(ids[0], ids[1], may),
    f"checkpoints/{ID}": lambda may, ids: CheckpointsPage(ids[0], may),
    f"checkpoint/{ID}": lambda may, ids: CheckpointPage(ids[0], may),
    f"benchmarks/{ID}": lambda may, ids: BenchmarksPage(ids[0], may),
    f"benchmark/{ID}": lambda may, ids: BenchmarkPage(ids[0], may),
    f"dataset/{ID}": lambda may, ids: DatasetPage(ids[0], may),
    "datasets": lambda may, ids: DatasetsPage(may),
    "engines": lambda may, ids: EnginesPage(may),
    f"host/{ID}": lambda may, ids: HostPage(ids[0], may),
    f"nav/{ID}": lambda may, ids: NavPage(ids[0]),
}


class UnknownTopicError(LookupError):
    """No page looks at this."""


class NotAllowedError(PermissionError):
    """The person may not look at this."""


def open_topic(topic: str, may: Rights) -> Callable[[], Reader]:
    """What makes the topic's reader (it may read the database). Raises UnknownTopicError and NotAllowedError."""
    if LOOK not in may:
        raise NotAllowedError(topic)
    for pattern, opener in TOPICS.items():
        if found := re.fullmatch(pattern, topic, re.ASCII):
            ids = tuple(int(part) for part in found.groups())
            return lambda: opener(may, ids)
    raise UnknownTopicError(topic)


def topics(page: str, project_id: int | None) -> str:
    """A page's own topic first, then the menu's: what the page's socket subscribes to. A page without one is "" and still."""
    return f"{page} nav/{project_id or 0}".strip()
