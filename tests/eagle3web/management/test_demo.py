"""`manage.py demo` from an empty home to its summary, with the real model, and nothing left behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from eagle3web.system.processes import free_port
from tests.support.servers import ROOT

pytestmark = pytest.mark.slow


def of_home(home: Path) -> list[str]:
    """Command lines of the processes that work in `home`."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        environ = process.info["environ"] or {}
        if environ.get("EAGLE3_HOME") == str(home) and process.pid != os.getpid():
            found.append(" ".join(process.info["cmdline"] or []))
    return found


def test_demo_generates_from_eight_datasets_and_ends_everything(tmp_path: Path) -> None:
    home = tmp_path / "home"
    env = {key: value for key, value in os.environ.items() if not key.startswith("EAGLE3_")}
    command = [sys.executable, "manage.py", "demo", "--budget", "60", "--once", "--port", str(free_port())]
    done = subprocess.run(
        command, cwd=ROOT, env=env | {"EAGLE3_HOME": str(home)}, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "One-time sign-in link:" in done.stdout
    summary = json.loads((home / "demo-summary.json").read_text())
    assert [row["slug"][:2] for row in summary["datasets"]] == [f"B{n}" for n in range(1, 9)]
    assert all(row["state"] == "finished: budget_met" for row in summary["datasets"])
    assert all(row["tokens"] >= row["budget"] == 60 for row in summary["datasets"])
    assert of_home(home) == []


def test_demo_refuses_a_budget_of_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "manage.py", "demo", "--budget", "0", "--once"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"EAGLE3_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr.strip()) == (1, "CommandError: --budget: at least one token for each dataset")
