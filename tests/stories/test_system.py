"""The system starts from the Procfile, and ends without a trace."""

import pytest

from tests.support.system import System

pytestmark = [pytest.mark.slow]


def test_system_starts_and_ends(system: System) -> None:
    assert set(system.processes) == {"valkey", "web", "worker", "beat"}
    assert system.orphans() == {}
    system.close()
    assert system.left() == {}


def test_killed_processes_start_again(system: System) -> None:
    for name in ("web", "worker", "beat", "valkey"):
        system.kill(name)
    system.start("valkey", "web", "worker", "beat")
    assert system.orphans() == {}
