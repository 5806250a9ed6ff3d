from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.enums import ShownState
from eagle3web.pages.clocks import clocks, next_change
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_running_attempt_has_two_clocks_without_colour() -> None:
    attempt, now = factories.attempt(), timezone.now()
    shown = clocks(attempt, now)
    assert (shown.state, shown.live, shown.alive_state, shown.progress_state) == (ShownState.RUNNING, True, "", "")
    assert (shown.alive_since, shown.progress_since) == (attempt.tick_at, attempt.progress_at)


def test_silent_attempt_shows_the_loops_clock_beside_a_young_heartbeat() -> None:
    now = timezone.now()
    attempt = factories.attempt(tick_at=now - timedelta(seconds=8))
    shown = clocks(attempt, now)
    assert (shown.state, shown.alive_state, shown.alive_since) == (ShownState.SILENT, "silent", attempt.tick_at)
    assert shown.heartbeat_at == attempt.heartbeat_at
    assert shown.quiet


def test_unresponsive_attempt_shows_the_heartbeats_clock() -> None:
    now = timezone.now()
    attempt = factories.attempt(heartbeat_at=now - timedelta(seconds=15))
    shown = clocks(attempt, now)
    assert (shown.state, shown.alive_since) == (ShownState.UNRESPONSIVE, attempt.heartbeat_at)


def test_ended_attempt_has_no_clocks_and_says_why() -> None:
    attempt = factories.attempt(status="failed", reason="killed by signal 9")
    shown = clocks(attempt, timezone.now())
    assert (shown.state, shown.live, shown.words, shown.alive_since) == (ShownState.FAILED, False, "killed by signal 9", None)


def test_words_hold_no_age() -> None:
    now = timezone.now()
    attempt = factories.attempt(progress_at=now - timedelta(seconds=90), waiting_for="long answers")
    assert clocks(attempt, now).words == clocks(attempt, now + timedelta(seconds=1)).words == "long answers"


def test_next_change_is_when_the_first_clock_passes_its_threshold() -> None:
    now = timezone.now()
    attempt = factories.attempt(tick_at=now - timedelta(seconds=1), heartbeat_at=now, progress_at=now)
    moment = next_change([attempt], now)
    assert moment is not None
    assert 2.4 < (moment - now).total_seconds() < 2.6
    assert clocks(attempt, moment - timedelta(seconds=0.1)).state == ShownState.RUNNING
    assert clocks(attempt, moment).state == ShownState.SILENT


def test_next_change_of_ended_attempts_is_never() -> None:
    assert next_change([factories.attempt(status="finished")], timezone.now()) is None
