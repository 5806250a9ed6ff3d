"""Nothing is buffered: the first line of a stage's log is readable through the API within a second of being printed."""

import time
from pathlib import Path

import pytest

from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, seconds_until, world

pytestmark = [pytest.mark.slow, pytest.mark.alone]


def first_line(here: World, attempt_id: int) -> str:
    lines = here.call("GET", f"/attempts/{attempt_id}/log")["items"]
    return lines[0]["text"] if lines else ""


def test_the_first_line_is_readable_within_a_second(system: System, tmp_path: Path) -> None:
    with world(system, tmp_path, Behaviour(latency_s=0.1, mean_tokens=40, vocab_size=300)) as here:
        here.add("B1", prompts=100, tokens=2000)
        run = here.start_run()
        wait_until(lambda: run.attempts.exists(), "it is launched")
        attempt = run.attempts.get()
        log = Path(attempt.folder) / "log.txt"
        wait_until(lambda: log.exists() and b"\n" in log.read_bytes(), "the first line is printed")
        printed = time.monotonic()
        took = seconds_until(lambda: first_line(here, attempt.pk) != "", "it is readable", since=printed, timeout_s=10)
        assert took < 1
        assert first_line(here, attempt.pk) == log.read_text().splitlines()[0]
