"""An engine dies, hangs with /health still 200, refuses, cuts connections: visible on its page, and not the end of a run."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eagle3web.enums import EngineState
from eagle3web.models import Engine, Event, Run
from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, world

pytestmark = [pytest.mark.slow]
BUDGET = 8000


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.1, mean_tokens=40, vocab_size=300)) as found:
        found.add("B1", prompts=1000, tokens=BUDGET)
        yield found


@pytest.fixture
def run(here: World) -> Run:
    started = here.start_run()
    here.wait_status(started, "running")
    here.wait_answers(started, 4)
    return started


def behave(**changes: Any) -> None:
    url = Engine.objects.get().url
    request = urllib.request.Request(f"{url}/stub", data=json.dumps(changes).encode(), method="POST")  # noqa: S310
    urllib.request.urlopen(request, timeout=5).close()  # noqa: S310  (our own loopback address)


def wait_engine(state: EngineState, timeout_s: float = 30) -> None:
    wait_until(lambda: Engine.objects.get().state == state, f"the engine is {state}", timeout_s)


def check_the_end(here: World, run: Run) -> None:
    here.wait_status(run, "finished", timeout_s=120)
    here.wait_until_still()
    assert run.attempts.count() == 1
    assert here.recount()["B1"].tokens >= BUDGET
    here.check_truth(run)


def test_an_engine_that_dies_is_down_and_its_run_goes_on_when_it_is_back(here: World, run: Run) -> None:
    wait_engine(EngineState.HEALTHY)
    here.kill_engine()
    wait_engine(EngineState.DOWN)
    wait_until(
        lambda: Event.objects.filter(kind="engine_changed", payload__state="down").exists(), "the run tells that it is down"
    )
    run.refresh_from_db()
    assert run.status == "running"
    here.start_engine()
    wait_engine(EngineState.HEALTHY)
    check_the_end(here, run)


def test_an_engine_that_hangs_is_told_from_one_that_is_down(here: World, run: Run) -> None:
    wait_engine(EngineState.HEALTHY)
    behave(hang=True)
    wait_engine(EngineState.HANGING)
    run.refresh_from_db()
    assert run.status == "running"
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    behave(hang=False)
    wait_engine(EngineState.HEALTHY)
    here.wait_until_still()
    here.check_truth(run)


@pytest.mark.parametrize("trouble", [{"max_in_flight": 2}, {"cut_every": 5}, {"abort_every": 5}])
def test_an_engine_with_troubles_serves_the_run_to_its_end(here: World, run: Run, trouble: dict[str, int]) -> None:
    behave(**trouble)
    check_the_end(here, run)
