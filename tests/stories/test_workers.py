"""Celery only carries messages: neither its end nor its repetitions reach a run."""

from collections.abc import Iterator
from pathlib import Path
from socket import create_server

import pytest

from eagle3web import tasks
from eagle3web.domain import procfs
from eagle3web.domain.clock import database_now
from eagle3web.domain.registry import register_engine
from eagle3web.models import Attempt, Host, Run
from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, world

pytestmark = [pytest.mark.slow]


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.1, mean_tokens=40, vocab_size=300)) as found:
        found.add("B1", prompts=5000, tokens=100_000)
        yield found


@pytest.fixture
def run(here: World) -> Run:
    started = here.start_run()
    here.wait_status(started, "running")
    return started


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_worker_that_ends_does_not_disturb_the_run(here: World, run: Run, how: str) -> None:
    attempt = here.attempt(run, 1)
    if how == "stop":
        here.system.stop("worker")
    else:
        here.system.kill("worker")
    before = here.answers(run)
    here.wait_answers(run, before + 8)
    here.system.start("worker")
    here.wait_answers(run, before + 16)
    assert procfs.is_alive(attempt.supervisor_pid, attempt.supervisor_started)
    assert procfs.is_alive(attempt.pid, attempt.pid_started)
    assert run.attempts.count() == 1
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    here.wait_until_still()
    here.check_truth(run)


def test_a_message_delivered_twice_starts_nothing(here: World, run: Run) -> None:
    alive = here.of_attempts()
    for number in (1, 1, 2, 3):
        tasks.launch_run.delay(run.pk, number)
    wait_until(lambda: here.system.said("worker").count("is not launched") >= 4, "all messages were taken")
    assert here.of_attempts() == alive
    assert Attempt.objects.count() == 1
    run.refresh_from_db()
    assert run.status == "running"


def test_a_run_started_while_no_worker_and_no_broker_is_there_waits(here: World) -> None:
    here.system.kill("worker")
    here.system.kill("valkey")
    started = here.start_run()
    assert (started.status, here.shown(started).words) == ("queued", "waits for a worker")
    here.system.start("valkey", "worker")
    here.wait_status(started, "running")
    assert started.attempts.count() == 1


def test_a_queued_run_is_stopped_at_once(here: World) -> None:
    here.system.kill("worker")
    started = here.start_run()
    here.call("POST", f"/runs/{started.pk}/stop")
    here.system.start("worker")
    started.refresh_from_db()
    assert (started.status, started.attempts.count()) == ("stopped", 0)
    assert started.transitions.last().reason == "stopped by ada before it started"  # type: ignore[union-attr]


def test_a_broker_that_dies_under_a_task_costs_no_worker(system: System) -> None:
    with create_server(("127.0.0.1", 0)) as hanging:
        register_engine("hanging", url=f"http://127.0.0.1:{hanging.getsockname()[1]}", user=None)
        # Beat sends it every five seconds, and it waits as long for an engine that takes connections and says nothing.
        wait_until(lambda: asked_and_not_done(system), "the worker asks the engine")
        system.kill("valkey")
        wait_until(lambda: "Connection to broker lost" in system.said("worker"), "the worker notices")
        system.start("valkey")
        started = database_now()
        wait_until(lambda: Host.objects.filter(seen_at__gt=started).exists(), "the worker reports again", 40)
    assert system.processes["worker"].poll() is None


def asked_and_not_done(system: System) -> bool:
    said = [line for line in system.said("worker").splitlines() if "check_engines" in line]
    return sum("received" in line for line in said) > sum("succeeded" in line for line in said)
