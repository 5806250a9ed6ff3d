"""The whole system without an engine, with a run at work, fits into 600 MB."""

from pathlib import Path

import psutil
import pytest

from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import world

pytestmark = [pytest.mark.slow, pytest.mark.alone]
LIMIT_MB = 600


def test_the_whole_system_fits_into_its_memory(system: System, tmp_path: Path) -> None:
    with world(system, tmp_path, Behaviour(latency_s=0.1, mean_tokens=40, vocab_size=300)) as here:
        here.add("B1", prompts=1000, tokens=100_000)
        run = here.start_run()
        here.wait_answers(run, 20)
        here.call("GET", f"/runs/{run.pk}")
        # Proportional, so that pages which processes share count once.
        used = {command: psutil.Process(pid).memory_full_info().pss / 1e6 for pid, command in system.left().items()}
        assert any("supervise" in command for command in used)
        assert sum(used.values()) <= LIMIT_MB, "\n".join(f"{mb:.0f} MB {command}" for command, mb in used.items())
