"""Two hosts without a shared disk: each sees a home of its own at the same path, and a store is all that they have together."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from eagle3web.models import Event, LogChunk, Run
from tests.stories.test_chains import start_chain
from tests.support.project_target import save_target
from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, world

UNSHARE = shutil.which("unshare")
CAN_MOUNT = (
    UNSHARE is not None and subprocess.run([UNSHARE, "--mount", "true"], capture_output=True, check=False).returncode == 0
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not CAN_MOUNT, reason="no mount namespaces here: `unshare --mount` needs root"),
]
OTHER = "worker@gpu-01"


@pytest.fixture
def here(bare_system: System, tmp_path: Path, settings: Settings) -> Iterator[World]:
    settings.EAGLE3_ARTIFACTS = str(tmp_path / "store")
    bare_system.env["EAGLE3_ARTIFACTS"] = settings.EAGLE3_ARTIFACTS
    bare_system.homes[OTHER] = tmp_path / "other"
    bare_system.homes[OTHER].mkdir()
    bare_system.start("valkey", "web", "worker", "beat", OTHER)
    with world(bare_system, tmp_path, Behaviour(latency_s=0.05, mean_tokens=20, vocab_size=300)) as found:
        found.add("B1", prompts=200, tokens=2500)
        save_target(found.project)
        yield found


def test_each_run_of_a_chain_takes_up_what_another_host_made(here: World) -> None:
    *runs, benchmark = start_chain(here)
    here.call("POST", f"/runs/{benchmark.pk}/stop")
    # Whoever came first has the generation; from there on they take turns.
    wait_until(lambda: runs[0].attempts.exists(), "a host has taken the first run")
    both = ["test-host", "gpu-01"] if here.attempt(runs[0], 1).host == "test-host" else ["gpu-01", "test-host"]
    turns = dict(zip(runs, [*both, both[0]], strict=True))
    for run in runs[1:]:
        Run.objects.filter(pk=run.pk).update(host=turns[run])
    for run, host in turns.items():
        here.wait_status(run, "finished", timeout_s=240)
        attempt = here.attempt(run, 1)
        assert attempt.host == host
        # The files of an attempt are on its host alone; the database has its events and the lines of its log.
        here_too, there_too = (
            Path(attempt.folder),
            here.system.homes[OTHER] / Path(attempt.folder).relative_to(here.system.home),
        )
        assert [(place / "events.jsonl").exists() for place in (here_too, there_too)] == [host == "test-host", host == "gpu-01"]
        assert LogChunk.objects.filter(attempt=attempt).exists()
        assert Event.objects.filter(attempt=attempt, kind="stage_finished").count() == 1
