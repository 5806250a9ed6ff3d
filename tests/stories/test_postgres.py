"""What differs between the databases works on PostgreSQL as well; `make test-postgres` runs everything else there.

A test session has one database; so this starts a session of its own, with DATABASE_URL.
"""

import os
import subprocess
import sys

import pytest

from tests.support.postgres import PROGRAMS, postgres
from tests.support.system import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(PROGRAMS is None, reason="PostgreSQL is not installed; `make test` installs it"),
]
TESTS = (
    "tests/eagle3web/test_migrations.py",
    "tests/eagle3web/domain/test_attempts.py",
    "tests/eagle3web/domain/test_ingest.py",
    "tests/eagle3web/domain/test_launch.py",
    "tests/eagle3web/domain/test_leases.py",
    "tests/eagle3web/domain/test_placement.py",
    "tests/stories/test_connections.py",
    "tests/stories/test_clock_skew.py",
    "tests/stories/test_database_away.py",
)


def test_session_passes_on_postgresql() -> None:
    with postgres() as server:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *TESTS],
            cwd=ROOT,
            env=os.environ | server.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-5000:]
    assert " passed" in done.stdout
