"""A generator is killed and started again: two attempts, two logs, and what was decided is told with its numbers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle3web.domain import budgets
from eagle3web.models import Event, LogChunk, TokenBudget
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, kill, world

pytestmark = [pytest.mark.slow, pytest.mark.alone]


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.05, mean_tokens=60, vocab_size=300)) as found:
        found.add("B1", tokens=1500)
        found.add("B2", tokens=20_000)
        yield found


def log_of(attempt_id: int) -> str:
    return b"".join(bytes(chunk.data) for chunk in LogChunk.objects.filter(attempt=attempt_id)).decode()


def test_restart_has_two_attempts_two_logs_and_tells_what_it_skips(here: World) -> None:
    run = here.start_run()
    here.wait_status(run, "running")
    first = here.attempt(run, 1)
    here.wait_answers(run, 60)
    kill(first.pid)
    here.wait_status(run, "failed")
    first.refresh_from_db()
    assert (first.reason, first.signal, first.exit_code) == ("killed by signal 9", 9, None)

    here.resume(run)
    here.wait_status(run, "finished")
    second = here.attempt(run, 2)
    skipped = Event.objects.get(attempt=second, kind="dataset_skipped")
    assert second.started_at is not None
    assert (skipped.t - second.started_at).total_seconds() < 2
    assert (skipped.payload["dataset"], skipped.payload["reason"], skipped.payload["budget"]) == ("B1", "budget_met", 1500)
    assert skipped.payload["tokens"] == here.recount()["B1"].tokens >= 1500

    decisions = here.call("GET", f"/attempts/{second.pk}/decisions")["items"]
    assert decisions[0]["kind"] == "dataset_skipped"
    lines = [line["text"] for line in here.call("GET", f"/attempts/{second.pk}/log")["items"]]
    assert any("B1: budget already met, skipped" in line for line in lines)
    assert log_of(first.pk) != log_of(second.pk)
    assert "skipped" not in log_of(first.pk)
    here.wait_until_still()
    here.check_truth(run)


def test_resume_counts_with_the_budgets_of_the_moment(here: World) -> None:
    run = here.start_run()
    here.wait_status(run, "running")
    here.wait_answers(run, 20)
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    assert here.attempt(run, 1).reason == "stopped by ada"
    row = TokenBudget.objects.get(dataset__slug="B2")
    budgets.change_budget(row.pk, user=here.user, expected_version=row.version, tokens=2000)
    here.resume(run)
    here.wait_status(run, "finished")
    second = here.attempt(run, 2)
    assert second.config["datasets"][1]["budget"] == 2000
    assert 2000 <= here.recount()["B2"].tokens < 2300
    here.wait_until_still()
    here.check_truth(run)
