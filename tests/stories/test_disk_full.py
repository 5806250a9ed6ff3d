"""The disk fills up: the run fails with that reason, what was written is valid, and resume goes on once there is room."""

import errno
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from eagle3web.models import Run
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, world

pytestmark = [pytest.mark.slow]


@contextmanager
def small_mount(folder: Path, size: int) -> Iterator[Path]:
    """A disk of `size` bytes at `folder`."""
    folder.mkdir(parents=True)
    mounted = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a disk of our own needs the right to mount one")
    try:
        yield folder
    finally:
        subprocess.run(["/bin/umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.05, mean_tokens=80, vocab_size=300)) as found:
        yield found


def fill(folder: Path) -> Path:
    """Write until nothing fits any more, not one byte."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    with ballast.open("ab", buffering=0) as file, pytest.raises(OSError, match="No space") as full:
        file.write(bytes(4096))
    assert full.value.errno == errno.ENOSPC
    return ballast


def check_that_it_goes_on(here: World, run: Run, *, budget: int) -> None:
    here.resume(run)
    here.wait_status(run, "finished")
    here.wait_until_still()
    assert here.recount()["B1"].tokens >= budget
    here.check_truth(run)


def test_a_full_disk_of_responses_fails_the_run_with_that_reason(here: World) -> None:
    here.add("B1", prompts=600, tokens=12_000)
    with small_mount(here.system.home / "projects", 2**20) as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(2**20 - 2**16))
        run = here.start_run()
        here.wait_status(run, "failed", "finished")
        attempt = here.attempt(run, 1)
        assert attempt.status == "failed"
        assert attempt.reason.startswith("failed: disk full while writing")
        count = here.recount()["B1"]
        assert (count.duplicates, count.unreadable) == (0, 0)
        assert 0 < count.tokens < 12_000
        ballast.unlink()
        check_that_it_goes_on(here, run, budget=12_000)


def test_a_full_disk_of_events_and_logs_fails_the_run_with_that_reason(here: World) -> None:
    here.add("B1", prompts=2000, tokens=50_000)
    with small_mount(here.system.home / "runs", 2**20) as disk:
        run = here.start_run()
        here.wait_status(run, "running")
        here.wait_answers(run, 10)
        ballast = fill(disk)
        here.wait_status(run, "failed")
        assert "disk" in here.attempt(run, 1).reason
        assert "full" in here.attempt(run, 1).reason
        here.wait_until_still()
        ballast.unlink()
        check_that_it_goes_on(here, run, budget=50_000)
