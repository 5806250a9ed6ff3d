"""An attempt's state with its two clocks, free of ages: browsers tick them, so that nothing is sent while nothing happens."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from eagle3web.domain.shown import shown_state
from eagle3web.enums import AttemptStatus, ShownState
from eagle3web.models import Attempt

ALIVE_STATES = frozenset({ShownState.SILENT, ShownState.UNRESPONSIVE})
QUIET = frozenset({ShownState.SILENT, ShownState.UNRESPONSIVE})
"""States in which a forecast would be made up."""


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """What a page shows of a live attempt, or of one that has ended (without clocks)."""

    state: ShownState
    words: str
    """Beside the state: why it ended, what it waits for."""
    live: bool
    alive_since: datetime | None = None
    """When the loop last turned; when its supervisor was last heard, where that is the worse news."""
    heartbeat_at: datetime | None = None
    progress_since: datetime | None = None
    alive_state: str = ""
    """Colours the first clock."""
    progress_state: str = ""

    alive_limit: float = settings.EAGLE3_UNRESPONSIVE_AFTER
    progress_limit: float = settings.EAGLE3_WAITING_AFTER

    @property
    def quiet(self) -> bool:
        return self.state in QUIET


def clocks(attempt: Attempt, now: datetime) -> Clocks:
    """Judge an attempt. `words` never holds an age."""
    shown = shown_state(attempt, now)
    if attempt.status in AttemptStatus.TERMINAL:
        return Clocks(state=shown.state, words=attempt.reason, live=False)
    unheard = shown.state == ShownState.UNRESPONSIVE
    return Clocks(
        state=shown.state,
        words=attempt.waiting_for,
        live=True,
        alive_since=attempt.heartbeat_at if unheard else attempt.tick_at or attempt.heartbeat_at,
        heartbeat_at=attempt.heartbeat_at,
        progress_since=None if shown.state == ShownState.PAUSED else attempt.progress_at or attempt.started_at,
        alive_state=shown.state if shown.state in ALIVE_STATES else "",
        progress_state=shown.state if shown.state == ShownState.WAITING else "",
    )


def next_change(attempts: list[Attempt], now: datetime) -> datetime | None:
    """When the clocks alone will next change a word, if nothing is heard until then."""
    thresholds = (
        ("tick_at", settings.EAGLE3_SILENT_AFTER),
        ("heartbeat_at", settings.EAGLE3_UNRESPONSIVE_AFTER),
        ("progress_at", settings.EAGLE3_WAITING_AFTER),
    )
    live = [attempt for attempt in attempts if attempt.status in AttemptStatus.LIVE]
    moments = [
        moment + timedelta(seconds=limit, milliseconds=20)
        for attempt in live
        for field, limit in thresholds
        if (moment := getattr(attempt, field)) is not None
    ]
    return min((moment for moment in moments if moment > now), default=None)
