"""One checkpoint: what was measured of it, what people think of it, and how to serve it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from eagle3web.domain import checkpoints as verbs
from eagle3web.domain import reviews
from eagle3web.domain.clock import database_now
from eagle3web.live.records import Entry, Reading
from eagle3web.models import BenchmarkRow, Checkpoint
from eagle3web.pages import fragments
from eagle3web.pages.rights import Rights
from eagle3web.pokes import project_topic
from eagle3web.queries import checkpoints, talk
from eagle3web.queries.benchmarks import Headline, headlines_of_checkpoints
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError
from pipeline.sglang_command import launch_command

FRAGMENTS = {
    "checkpoint-head": "checkpoints/_head.html",
    "checkpoint-stats": "checkpoints/_stats.html",
    "checkpoint-reviews": "checkpoints/_reviews.html",
    "comments-news": "talk/_news.html",
}


@dataclass(frozen=True, kw_only=True)
class ShownCheckpoint:
    """A checkpoint with what was measured of it."""

    row: Checkpoint
    headline: Headline | None
    """What its newest benchmark found."""

    @property
    def simulated(self) -> float | None:
        return self.metric("simulated_accept_length")

    @property
    def decoded(self) -> float | None:
        """Accept length of real decoding while it was trained."""
        return self.metric("accept_length")

    @property
    def benchmarked(self) -> BenchmarkRow | None:
        """The drafter's row of the newest benchmark."""
        return self.headline.drafter if self.headline else None

    @property
    def measured(self) -> float | None:
        """The accept length of real decoding: of the newest benchmark, else of the evaluation while it was trained."""
        return self.benchmarked.accept_length if self.benchmarked else self.decoded

    @property
    def measured_by(self) -> str:
        return "benchmark" if self.benchmarked else "evaluation" if self.decoded is not None else ""

    @property
    def eval_loss(self) -> float | None:
        return self.metric("eval_loss")

    @property
    def baseline(self) -> BenchmarkRow | None:
        return self.headline.plain if self.headline else None

    @property
    def data(self) -> tuple[int, int] | None:
        """Datasets and tokens that it learned from, as its manifest says."""
        lineage = self.row.manifest.get("lineage")
        told = lineage.get("datasets") if isinstance(lineage, dict) else None
        if not isinstance(told, list) or not told:
            return None
        counts = [row.get("tokens") for row in told if isinstance(row, dict)]
        return len(told), sum(count for count in counts if isinstance(count, int))

    def metric(self, name: str) -> float | None:
        value = self.row.metrics.get(name)
        return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def shown_checkpoints(rows: Iterable[Checkpoint]) -> list[ShownCheckpoint]:
    """Two queries for any number of rows."""
    found = list(rows)
    measured = headlines_of_checkpoints(row.pk for row in found)
    return [ShownCheckpoint(row=row, headline=measured.get(row.pk)) for row in found]


def serving_command(checkpoint: Checkpoint, shape: str) -> str:
    """What serves the target with this drafter in SGLang; `shape` is steps/topk/draft_tokens, as it was measured."""
    target = checkpoint.project.target_path or checkpoint.project.target_model
    return launch_command(target=target, drafter=checkpoint.path, shape=_shape(shape))


def _shape(text: str) -> DraftShape:
    """The default one for what is no shape: it comes from events."""
    try:
        return DraftShape.parse(text)
    except ConfigError:
        return DraftShape()


@dataclass
class CheckpointPage:
    """Reader of one checkpoint."""

    checkpoint_id: int
    may: Rights
    pokes: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.pokes = frozenset({project_topic(checkpoints.find(self.checkpoint_id).project_id)})

    def context(self) -> dict[str, Any]:
        """Five queries."""
        row = checkpoints.find(self.checkpoint_id)
        (shown,) = shown_checkpoints([row])
        trouble = ""
        try:
            verbs.folder_of(row)
        except verbs.FilesAwayError as error:
            trouble = str(error)
        measured = shown.benchmarked
        return {
            "may": self.may,
            "project": row.project,
            "run": row.run,
            "checkpoint": row,
            "shown": shown,
            "files_away": trouble,
            "command": serving_command(row, measured.shape if measured else ""),
            "reviews": checkpoints.reviews_of(row.pk),
            "may_say": {name: reviews.is_allowed(row, state) for state, name in reviews.VERBS.items()},
            "comments_stamp": talk.stamp(checkpoint=row.pk),
            "other_metrics": [(name, value) for name, value in sorted(row.metrics.items()) if isinstance(value, (int, float))],
        }

    def read(self, now: datetime) -> Reading:
        context = self.context()
        title = f"{context['checkpoint']}{' · promoted' if context['checkpoint'].promoted else ''}"
        return Reading(fragments=fragments.render(FRAGMENTS, context), title=title, now=database_now())

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0
