"""What the page of a run shows of its stage, between the shell that all stages share."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from eagle3web.live.records import Entry
from eagle3web.models import Attempt, Run

Context = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Window:
    """Lines within a stretch of the x axis."""

    lines: Mapping[str, Sequence[tuple[int, float]]]
    """Line (a trace's `meta`) → (x, value)."""
    total: int
    """Points before sampling, of the longest line."""


class PointsWithin(Protocol):
    def __call__(self, attempt: Attempt, lines: Collection[str], low: int, high: int) -> Window:
        """The named lines from `low` to `high`, in full where they have few enough points."""


class PointsAfter(Protocol):
    def __call__(self, attempt_id: int, after: int, *, up_to: int | None = None, limit: int = ...) -> list[Entry]:
        """Points with an id above `after`, as `(line, x, value)`: the line is a trace's `meta`."""


@dataclass(frozen=True, kw_only=True)
class StagePart:
    """One stage's part of the page."""

    template: str
    """Everything below the facts: its own cards, and where the decisions, the log and the config stand among them."""
    facts: str
    """The numbers of a live attempt, and of one that has ended, in the list of facts."""
    fragments: Mapping[str, str]
    """Element id → template, of what changes while somebody looks; rendered with the context."""
    context: Callable[[Run, Attempt, bool], Context]
    """Of `(run, attempt, forecast)`, for fragments: `kept`, in words, and the stage's own. No forecast while it is silent."""
    details: Callable[[Run, Attempt, int], Context]
    """Of `(run, attempt, newest point)`: what is drawn once, and grows by points."""
    points_after: PointsAfter
    points_within: PointsWithin
    """For who zooms into a chart."""
    slow: Callable[[Run, Attempt, bool], Context] | None = None
    """As `context`, for what moves slowly and costs much: it is read every ten seconds or so."""
    asks_engines: bool = False
    """Whether it asks engines for answers: there are samples to look at, and another concurrency can be asked for."""
