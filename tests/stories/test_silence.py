"""Alive but silent is not dead, a stopped supervisor is not a stopped stage, and a killed one takes its stage with it."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle3web.enums import ShownState
from eagle3web.models import Lease, Run
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, is_gone, kill, seconds_until, world

pytestmark = [pytest.mark.slow, pytest.mark.alone]


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.1, mean_tokens=40, vocab_size=300)) as found:
        found.add("B1", prompts=5000, tokens=100_000)
        yield found


@pytest.fixture
def run(here: World) -> Run:
    """A run that works."""
    started = here.start_run()
    here.wait_status(started, "running")
    here.wait_answers(started, 4)
    return started


def seconds_until_shown(here: World, run: Run, state: ShownState, *, since: float, timeout_s: float) -> float:
    return seconds_until(lambda: here.shown(run).state == state, f"it is shown as {state}", since=since, timeout_s=timeout_s)


def test_a_stopped_stage_is_silent_with_a_young_heartbeat_and_goes_on(here: World, run: Run) -> None:
    attempt = here.attempt(run, 1)
    stopped = kill(attempt.pid, signal.SIGSTOP)
    assert seconds_until_shown(here, run, ShownState.SILENT, since=stopped, timeout_s=8) <= 5
    while time.monotonic() < stopped + 10:
        shown = here.shown(run)
        assert shown.state == ShownState.SILENT
        assert (shown.heartbeat_age or 0) < 5
        time.sleep(0.5)
    told = here.call("GET", f"/runs/{run.pk}")["shown"]
    assert told["state"] == "silent"
    before = here.answers(run)
    woken = kill(attempt.pid, signal.SIGCONT)
    assert seconds_until_shown(here, run, ShownState.RUNNING, since=woken, timeout_s=8) <= 5
    here.wait_answers(run, before + 4)


def test_a_stopped_supervisor_is_unresponsive_and_comes_back(here: World, run: Run) -> None:
    attempt = here.attempt(run, 1)
    stopped = kill(attempt.supervisor_pid, signal.SIGSTOP)
    assert seconds_until_shown(here, run, ShownState.UNRESPONSIVE, since=stopped, timeout_s=16) <= 12
    kill(attempt.supervisor_pid, signal.SIGCONT)
    before = here.answers(run)
    here.wait_answers(run, before + 4)
    assert here.shown(run).state == ShownState.RUNNING


def test_a_killed_supervisor_takes_its_stage_along_and_the_attempt_is_lost(here: World, run: Run) -> None:
    attempt = here.attempt(run, 1)
    killed = kill(attempt.supervisor_pid)
    gone = seconds_until(lambda: is_gone(attempt.pid, attempt.pid_started), "the stage dies", since=killed, timeout_s=10)
    assert gone <= 5
    here.wait_status(run, "lost")
    assert time.monotonic() - killed <= 30
    attempt.refresh_from_db()
    assert attempt.reason.startswith(f"lost: its supervisor (pid {attempt.supervisor_pid}) is gone")
    assert not Lease.objects.exists()
    here.resume(run)
    here.wait_status(run, "running")
    here.wait_answers(run, here.answers(run) + 4)
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    here.wait_until_still()
    here.check_truth(run)
