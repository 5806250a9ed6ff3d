"""The database server crashes under a running system: the run goes on, and nothing is missing once it is back."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from pipeline.events import read_events
from tests.support.postgres import Postgres
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, world

pytestmark = [pytest.mark.slow, pytest.mark.alone]
SECONDS = 35
"""Longer than the silence after which another host's attempt is lost."""


@pytest.fixture
def server() -> Postgres:
    """The server that was started for this session (tests/support/postgres.py)."""
    if connection.vendor != "postgresql":
        pytest.skip("needs a database server that can go away; tests/stories/test_postgres.py brings one")
    port, folder = os.environ["EAGLE3_TEST_POSTGRES"].split(" ", 1)
    return Postgres(Path(folder), int(port))


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.1, mean_tokens=40, vocab_size=300)) as found:
        found.add("B1", prompts=5000, tokens=100_000)
        yield found


def test_a_database_that_is_away_holds_nothing_up(server: Postgres, here: World) -> None:
    run = here.start_run()
    here.wait_status(run, "running")
    here.wait_answers(run, 4)
    events_file = Path(here.attempt(run, 1).folder) / "events.jsonl"
    connection.close()
    server.stop()
    try:
        before = sum(1 for _ in read_events(events_file))
        time.sleep(SECONDS)
        assert sum(1 for _ in read_events(events_file)) - before > SECONDS
    finally:
        server.start()
    here.wait_answers(run, here.answers(run) + 8)
    assert here.shown(run).state == "running"
    time.sleep(15)  # two rounds of reconcile find nothing to end
    assert here.shown(run).state == "running"
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    assert run.attempts.count() == 1
    here.wait_until_still()
    here.check_truth(run)
