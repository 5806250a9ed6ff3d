"""Everything that the database is asked to do works on PostgreSQL as well, and so does its absence.

A test session has one database; so these start sessions of their own, with DATABASE_URL.
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


@pytest.mark.parametrize("tests", ["tests/eagle3web/domain", "tests/stories/test_database_away.py"])
def test_session_passes_on_postgresql(tests: str) -> None:
    with postgres() as server:
        there = {"DATABASE_URL": server.url, "EAGLE3_TEST_POSTGRES": f"{server.port} {server.folder}"}
        command = [sys.executable, "-m", "pytest", "-q", tests]
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | there, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    assert done.returncode == 0, done.stdout[-5000:]
    assert " passed" in done.stdout
