"""A budget is edited while the run works: the stage acknowledges the new version within a second, and no process restarts."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle3web.domain.budgets import change_budget
from eagle3web.models import Run, TokenBudget
from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, world

pytestmark = [pytest.mark.slow, pytest.mark.alone]


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.1, mean_tokens=40, vocab_size=300)) as found:
        found.add("B1", prompts=5000, tokens=100_000)
        found.add("B2", prompts=5000, tokens=100_000)
        yield found


@pytest.fixture
def run(here: World) -> Run:
    started = here.start_run()
    here.wait_status(started, "running")
    here.wait_answers(started, 10)
    return started


def edit(here: World, run: Run, tokens: int) -> float:
    """Change B1's budget; the seconds until the stage's acknowledgement is in the database."""
    row = TokenBudget.objects.get(dataset__slug="B1")
    start = time.monotonic()
    changed = change_budget(row.pk, user=here.user, expected_version=row.version, tokens=tokens)
    attempt = here.attempt(run, 1)
    message = attempt.controls.latest("id")
    assert (message.payload["version"], message.author) == (changed.version, here.user)
    progress = attempt.datasets.filter(dataset="B1", budget_version=changed.version, budget=tokens)
    wait_until(progress.exists, "the new version is acknowledged", 10)
    took = time.monotonic() - start
    message.refresh_from_db()
    assert message.delivered_at is not None
    assert message.acknowledged_at is not None
    return took


def test_an_edit_is_acknowledged_within_a_second_and_obeyed(here: World, run: Run) -> None:
    attempt = here.attempt(run, 1)
    datasets = attempt.datasets
    assert edit(here, run, 200_000) < 1
    here.wait_answers(run, here.answers(run) + 4)
    assert edit(here, run, 10) < 1
    wait_until(lambda: datasets.get(dataset="B1").state == "finished", "the budget is met", 10)
    assert datasets.get(dataset="B1").reason == "budget_met"
    wait_until(lambda: datasets.get(dataset="B2").done > 10, "the next dataset has its turn")
    before = datasets.get(dataset="B1").done
    assert edit(here, run, 150_000) < 1
    wait_until(lambda: datasets.get(dataset="B1").done > before, "a higher budget goes on")
    assert datasets.get(dataset="B1").state == "running"
    now = here.attempt(run, 1)
    assert (run.attempts.count(), now.pid, now.supervisor_pid) == (1, attempt.pid, attempt.supervisor_pid)
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    here.wait_until_still()
    here.check_truth(run)


def test_pause_and_concurrency_are_acknowledged_too(here: World, run: Run) -> None:
    here.call("POST", f"/runs/{run.pk}/pause")
    wait_until(lambda: here.shown(run).state == "paused", "it is paused", 5)
    wait_until(lambda: not any(row.in_flight for row in here.attempt(run, 1).datasets.all()), "nothing is in flight", 10)
    still = here.answers(run)
    time.sleep(1.5)
    assert here.answers(run) == still
    here.call("POST", f"/runs/{run.pk}/unpause")
    here.call("POST", f"/runs/{run.pk}/concurrency", {"n": 16})
    here.wait_answers(run, still + 20)
    assert here.shown(run).state == "running"
    controls = here.attempt(run, 1).controls
    assert [message.kind for message in controls.all()] == ["pause", "resume", "set_concurrency"]
    assert not controls.filter(acknowledged_at=None).exists()
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    here.resume(run)
    here.wait_status(run, "running")
    assert here.attempt(run, 2).config["concurrency"] == 16
