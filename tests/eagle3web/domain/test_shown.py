"""The word on the screen, judged by status and clocks."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from eagle3web.domain.shown import shown_run, shown_state
from eagle3web.enums import AttemptStatus, RunStatus, ShownState
from eagle3web.models import Attempt, Run

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def attempt(**fields: Any) -> Attempt:
    """A running attempt whose clocks are young."""
    young = {"created_at": ago(600), "started_at": ago(600), "heartbeat_at": ago(1), "tick_at": ago(1), "progress_at": ago(1)}
    return Attempt(**{"run_id": 1, "number": 1, "status": AttemptStatus.RUNNING} | young | fields)


@pytest.mark.parametrize(
    ("fields", "state", "words"),
    [
        ({}, ShownState.RUNNING, "running"),
        ({"tick_at": ago(3.4)}, ShownState.RUNNING, "running"),
        ({"tick_at": ago(6)}, ShownState.SILENT, "its loop has not turned for 6 s; its supervisor is alive"),
        ({"tick_at": ago(6), "paused": True}, ShownState.SILENT, "its loop has not turned for 6 s; its supervisor is alive"),
        ({"tick_at": None}, ShownState.SILENT, "its loop has not turned for 10 min; its supervisor is alive"),
        ({"tick_at": None, "started_at": ago(4)}, ShownState.STARTING, "its loop has not turned yet"),
        ({"heartbeat_at": ago(11)}, ShownState.UNRESPONSIVE, "nothing heard from its supervisor for 11 s"),
        ({"heartbeat_at": ago(11), "tick_at": ago(11)}, ShownState.UNRESPONSIVE, "nothing heard from its supervisor for 11 s"),
        ({"paused": True}, ShownState.PAUSED, "paused"),
        ({"paused": True, "progress_at": ago(500)}, ShownState.PAUSED, "paused"),
        ({"progress_at": ago(50)}, ShownState.WAITING, "nothing finished for 50 s; waits for long answers"),
        (
            {"progress_at": ago(50), "waiting_for": "engine-1 to load"},
            ShownState.WAITING,
            "nothing finished for 50 s; waits for engine-1 to load",
        ),
        ({"status": AttemptStatus.STARTING}, ShownState.STARTING, "the process is starting"),
        (
            {"status": AttemptStatus.STARTING, "heartbeat_at": None},
            ShownState.UNRESPONSIVE,
            "nothing heard from its supervisor for 10 min",
        ),
        (
            {"status": AttemptStatus.STARTING, "heartbeat_at": None, "created_at": ago(2)},
            ShownState.STARTING,
            "the process is starting",
        ),
        ({"status": AttemptStatus.STOPPING, "reason": "ada asked it to stop"}, ShownState.STOPPING, "ada asked it to stop"),
        ({"status": AttemptStatus.LOST, "reason": "killed by signal 9"}, ShownState.LOST, "killed by signal 9"),
        ({"status": AttemptStatus.FINISHED, "heartbeat_at": ago(9999)}, ShownState.FINISHED, "finished"),
    ],
)
def test_shown_state_follows_the_clocks(fields: dict[str, Any], state: ShownState, words: str) -> None:
    shown = shown_state(attempt(**fields), NOW)
    assert (shown.state, shown.words) == (state, words)


def test_shown_state_tells_the_ages() -> None:
    shown = shown_state(attempt(heartbeat_at=ago(2), tick_at=ago(1), progress_at=ago(30)), NOW)
    assert (shown.heartbeat_age, shown.alive_age, shown.progress_age) == (2, 1, 30)


def test_shown_state_of_an_ended_attempt_has_no_clocks() -> None:
    shown = shown_state(attempt(status=AttemptStatus.STOPPED), NOW)
    assert (shown.heartbeat_age, shown.alive_age, shown.progress_age) == (None, None, None)


def test_shown_state_never_has_a_negative_age() -> None:
    assert shown_state(attempt(tick_at=NOW + timedelta(seconds=3)), NOW).alive_age == 0


def test_shown_run_is_queued_without_an_attempt_and_again_after_resume() -> None:
    assert shown_run(Run(status=RunStatus.QUEUED), None, NOW).words == "waits for a worker"
    resumed = shown_run(Run(status=RunStatus.QUEUED), attempt(status=AttemptStatus.FAILED), NOW)
    assert resumed.state == ShownState.QUEUED


def test_shown_run_says_what_it_waits_for() -> None:
    shown = shown_run(Run(status=RunStatus.QUEUED), None, NOW, waits="waits for r1 generate")
    assert (shown.state, shown.words) == (ShownState.QUEUED, "waits for r1 generate")


def test_shown_run_is_stopped_when_it_never_started() -> None:
    shown = shown_run(Run(status=RunStatus.STOPPED), None, NOW)
    assert (shown.state, shown.words) == (ShownState.STOPPED, "never started")


def test_shown_run_follows_its_last_attempt() -> None:
    assert shown_run(Run(status=RunStatus.RUNNING), attempt(), NOW).state == ShownState.RUNNING
