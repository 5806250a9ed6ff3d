"""The database is locked, the broker is away: the run goes on, and nothing is missing afterwards."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection

from eagle3web.models import Run
from pipeline.events import read_events
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, world

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
SECONDS = 30


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.1, mean_tokens=40, vocab_size=300)) as found:
        found.add("B1", prompts=5000, tokens=100_000)
        yield found


@pytest.fixture
def run(here: World) -> Run:
    started = here.start_run()
    here.wait_status(started, "running")
    here.wait_answers(started, 4)
    return started


@contextmanager
def locked_database() -> Iterator[None]:
    """Hold SQLite's only write lock."""
    other = sqlite3.connect(connection.settings_dict["NAME"], timeout=30)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.rollback()
        other.close()


def said(here: World, run: Run) -> int:
    """Events in the stage's own file."""
    return sum(1 for _ in read_events(Path(here.attempt(run, 1).folder) / "events.jsonl"))


def check_that_it_went_on(here: World, run: Run) -> None:
    here.wait_answers(run, here.answers(run) + 8)
    assert here.shown(run).state == "running"
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    assert run.attempts.count() == 1
    here.wait_until_still()
    here.check_truth(run)


def test_a_locked_database_holds_nothing_up(here: World, run: Run) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite locks as a whole")
    before = said(here, run)
    with locked_database():
        time.sleep(SECONDS)
        went_on = said(here, run) - before
    assert went_on > SECONDS
    check_that_it_went_on(here, run)


def test_a_broker_that_is_away_holds_nothing_up(here: World, run: Run) -> None:
    before = here.answers(run)
    here.system.kill("valkey")
    time.sleep(SECONDS)
    # Nothing travels through the broker that a page needs: rows kept coming.
    assert here.answers(run) > before + SECONDS
    check_copies_of_a_living_attempt(here, run)
    here.system.start("valkey")
    check_that_it_went_on(here, run)


def check_copies_of_a_living_attempt(here: World, run: Run) -> None:
    """Stop and look: what the file has, the database has within a second."""
    attempt = here.attempt(run, 1)
    file_has = said(here, run)
    deadline = time.monotonic() + 2
    while attempt.last_seq < file_has and time.monotonic() < deadline:
        time.sleep(0.05)
        attempt.refresh_from_db()
    assert attempt.last_seq >= file_has
