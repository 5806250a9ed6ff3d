"""The settings of a team's installation satisfy Django's own checks, and SQLite's file is nobody else's to read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_deployment_behind_tls_is_clean(tmp_path: Path) -> None:
    environment = os.environ | {
        "EAGLE3_HOME": str(tmp_path),
        "EAGLE3_HTTPS": "true",
        "EAGLE3_ALLOWED_HOSTS": "eagle3.example",
        "EAGLE3_ORIGINS": "https://eagle3.example",
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=150, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


WRITES = """
import os, pathlib, sqlite3
os.umask(0o022)
from eagle3web.settings import DATABASES, EAGLE3_HOME
opened = sqlite3.connect(DATABASES["default"]["NAME"])
opened.executescript(DATABASES["default"]["OPTIONS"]["init_command"] + "CREATE TABLE t (a)")
for path in sorted(EAGLE3_HOME.glob("*.sqlite3*")):
    print(path.name, oct(path.stat().st_mode & 0o777))
"""


@pytest.mark.parametrize(("before", "after"), [(None, "0o600"), (0o644, "0o640"), (0o660, "0o660")])
def test_database_is_closed_to_others(tmp_path: Path, before: int | None, after: str) -> None:
    if before is not None:
        (tmp_path / "eagle3.sqlite3").touch()
        (tmp_path / "eagle3.sqlite3").chmod(before)
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment["EAGLE3_HOME"] = str(tmp_path)
    ended = subprocess.run(
        [sys.executable, "-c", WRITES], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout.split("\n") == [
        f"eagle3.sqlite3 {after}", f"eagle3.sqlite3-shm {after}", f"eagle3.sqlite3-wal {after}", "",
    ]  # fmt: skip
