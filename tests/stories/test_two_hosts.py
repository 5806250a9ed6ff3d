"""Two hosts: each carries out and judges its own attempts, and one that falls silent is judged by the other."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle3web.domain import hosts
from eagle3web.models import Host, Lease, Run
from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, check_copies, freeze, is_gone, kill, world

pytestmark = [pytest.mark.slow]
OTHER = "worker@gpu-01"


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    system.start(OTHER)
    with world(system, tmp_path, Behaviour(latency_s=0.1, mean_tokens=40, vocab_size=300)) as found:
        found.add("B1", prompts=20_000, tokens=2_000_000)
        yield found


@pytest.fixture
def run(here: World) -> Run:
    """A run that works on the other host."""
    started = here.start_run(host="gpu-01")
    here.wait_status(started, "running")
    here.wait_answers(started, 4)
    return started


def test_a_run_is_carried_out_by_the_host_that_it_names(here: World, run: Run) -> None:
    attempt = here.attempt(run, 1)
    assert attempt.host == "gpu-01"
    assert {host.name for host in Host.objects.all()} == {"test-host", "gpu-01"}
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")


def test_a_second_run_of_the_project_waits_for_the_first(here: World, run: Run) -> None:
    second = here.start_run()
    lease = f"responses/{here.project.slug}"
    words = f"waits for r{run.pk} attempt 1, which holds {lease}"
    wait_until(lambda: here.call("GET", f"/runs/{second.pk}")["shown"]["words"] == words, "it says for whom it waits")
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    here.wait_status(second, "running")
    assert here.attempt(second, 1).host in {"test-host", "gpu-01"}


def test_a_host_that_sleeps_and_one_that_dies_lose_their_runs_after_thirty_seconds(here: World, run: Run) -> None:
    attempt = here.attempt(run, 1)
    wait_until(lambda: Host.objects.get(name="test-host").steady_since is not None, "the first host has reported")
    time.sleep(31)  # until the first host has been heard for long enough to judge another one
    # As a machine that sleeps, or whose network is cut: worker and supervisor are there, and nobody hears them.
    worker = here.system.processes[OTHER].pid
    freeze(worker, attempt.supervisor_pid)
    here.wait_status(run, "lost")
    told = here.answers(run)
    assert Lease.objects.filter(attempt=attempt).count() == 0
    for pid in (attempt.supervisor_pid, worker):
        kill(pid, signal.SIGCONT)
    wait_until(lambda: is_gone(attempt.supervisor_pid, attempt.supervisor_started), "its supervisor ends by itself", 60)
    wait_until(lambda: not here.of_attempts(), "and so does the stage", 20)
    run.refresh_from_db()
    assert run.status == "lost"
    wait_until(lambda: here.answers(run) == here.recount()["B1"].answers, "what it did meanwhile is stored", 40)
    assert here.answers(run) >= told
    check_copies(attempt)

    hosts.drain(Host.objects.get(name="test-host"), user=None)
    here.resume(run)
    here.wait_status(run, "running")
    here.wait_answers(run, here.answers(run) + 4)
    attempt = here.attempt(run, 2)
    assert attempt.host == "gpu-01"
    here.system.kill(OTHER)
    killed = kill(attempt.supervisor_pid)
    here.wait_status(run, "lost")
    took = time.monotonic() - killed
    attempt.refresh_from_db()
    assert attempt.reason.startswith("lost: nothing was heard of it or of its host gpu-01 for ")
    assert 25 < took < 50

    here.system.start(OTHER)
    here.resume(run)
    here.wait_status(run, "running")
    here.wait_answers(run, here.answers(run) + 4)
    assert here.attempt(run, 3).host == "gpu-01"
    found = here.recount()["B1"]
    assert (found.duplicates, found.unreadable) == (0, 0)
