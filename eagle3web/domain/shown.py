"""The word on the screen: what a status and three clocks together say about an attempt. Pure: `now` is handed in.

Status is what was decided; the clocks are what was seen. The supervisor's heartbeat proves that somebody watches, the stage's
tick that its loop turns, progress that it gets somewhere. An attempt that has ended has no clocks.
"""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from eagle3web.enums import AttemptStatus, RunStatus, ShownState
from eagle3web.formats import duration
from eagle3web.models import Attempt, Run


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A state and a sentence. Ages are seconds; None where there is no clock."""

    state: ShownState
    words: str
    alive_age: float | None = None
    """Since the loop last turned, or since the supervisor was last heard while there is no loop yet."""
    heartbeat_age: float | None = None
    progress_age: float | None = None


def shown_state(attempt: Attempt, now: datetime) -> Shown:
    """Judge an attempt at `now`, a moment of the database's clock (domain.clock.database_now)."""
    if attempt.status in AttemptStatus.TERMINAL:
        return Shown(state=ShownState(attempt.status), words=attempt.reason or attempt.status)
    heartbeat = _age(attempt.heartbeat_at, now)
    tick = _age(attempt.tick_at, now)
    progress = _age(attempt.progress_at or attempt.started_at, now)
    state, words = _judge(attempt, now, heartbeat=heartbeat, tick=tick, progress=progress)
    return Shown(
        state=state,
        words=words,
        alive_age=heartbeat if tick is None else tick,
        heartbeat_age=heartbeat,
        progress_age=progress,
    )


def shown_run(run: Run, attempt: Attempt | None, now: datetime, *, waits: str = "") -> Shown:
    """Judge a run by its last attempt. A queued one has nobody to judge yet: it waits for what `waits` says (domain.waits), or
    for a worker."""
    if run.status == RunStatus.QUEUED:
        return Shown(state=ShownState.QUEUED, words=waits or "waits for a worker")
    if attempt is None:
        return Shown(state=ShownState(run.status), words="never started")
    return shown_state(attempt, now)


def _judge(
    attempt: Attempt, now: datetime, *, heartbeat: float | None, tick: float | None, progress: float | None
) -> tuple[ShownState, str]:
    unheard = _age(attempt.created_at, now) if heartbeat is None else heartbeat
    if unheard is not None and unheard > settings.EAGLE3_UNRESPONSIVE_AFTER:
        return ShownState.UNRESPONSIVE, f"nothing heard from its supervisor for {duration(unheard)}"
    if attempt.status == AttemptStatus.STOPPING:
        return ShownState.STOPPING, attempt.reason or "asked to stop"
    if attempt.status == AttemptStatus.STARTING:
        return ShownState.STARTING, attempt.waiting_for or "the process is starting"
    if tick is None and (_age(attempt.started_at, now) or 0) <= settings.EAGLE3_UNRESPONSIVE_AFTER:
        return ShownState.STARTING, attempt.waiting_for or "its loop has not turned yet"
    still = _age(attempt.started_at, now) if tick is None else tick
    if still is not None and still > settings.EAGLE3_SILENT_AFTER:
        return ShownState.SILENT, f"its loop has not turned for {duration(still)}; its supervisor is alive"
    if attempt.paused:
        return ShownState.PAUSED, attempt.waiting_for or "paused"
    if progress is not None and progress > settings.EAGLE3_WAITING_AFTER:
        what = attempt.waiting_for or "long answers"
        return ShownState.WAITING, f"nothing finished for {duration(progress)}; waits for {what}"
    return ShownState.RUNNING, attempt.waiting_for or "running"


def _age(moment: datetime | None, now: datetime) -> float | None:
    """Seconds since `moment`; clocks that disagree a little never make an age negative."""
    return None if moment is None else max(0.0, (now - moment).total_seconds())
