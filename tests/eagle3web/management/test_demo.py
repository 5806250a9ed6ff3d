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

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def of_home(home: Path) -> list[str]:
    """Command lines of the processes that work in `home`."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        environ = process.info["environ"] or {}
        if environ.get("EAGLE3_HOME") == str(home) and process.pid != os.getpid():
            found.append(" ".join(process.info["cmdline"] or []))
    return found


def demo(home: Path, *, timeout_s: float) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("EAGLE3_")}
    command = [sys.executable, "manage.py", "demo", "--budget", "60", "--once", "--port", str(free_port())]
    return subprocess.run(
        command, cwd=ROOT, env=env | {"EAGLE3_HOME": str(home)}, capture_output=True, text=True, timeout=timeout_s, check=False
    )


def test_demo_goes_from_eight_datasets_to_a_measured_drafter_and_ends_everything(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = demo(home, timeout_s=800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "One-time sign-in link:" in done.stdout
    assert "Stage 3 of 3: benchmark" in done.stdout
    assert "the baseline" in done.stdout
    summary = json.loads((home / "demo-summary.json").read_text())
    assert [row["slug"][:2] for row in summary["datasets"]] == [f"B{n}" for n in range(1, 9)]
    assert all(row["state"] == "finished: budget_met" for row in summary["datasets"])
    assert all(row["tokens"] >= row["budget"] == 60 for row in summary["datasets"])
    assert [(stage["stage"], stage["status"]) for stage in summary["stages"]] == [
        ("generate", "finished"),
        ("train", "finished"),
        ("benchmark", "finished"),
    ]
    numbers = summary["benchmark"]
    assert set(numbers) == {
        "accept_length", "speedup", "spread", "baseline_tok_s", "draft_tok_s", "lookup_accept_length", "lookup_speedup",
        "by_dataset", "verdict",
    }  # fmt: skip
    assert numbers["accept_length"] >= 1.0
    assert [slug[:2] for slug in numbers["by_dataset"]] == [f"B{n}" for n in range(1, 9)]
    assert of_home(home) == []
    again = demo(home, timeout_s=300)
    assert again.returncode == 0, again.stdout + again.stderr
    assert json.loads((home / "demo-summary.json").read_text())["stages"] == summary["stages"]
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
