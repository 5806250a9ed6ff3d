"""The guard over real trees of processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.servers import ROOT, wait_until

SERVER = """
import signal, subprocess, sys, time
helper = "import time; time.sleep(60)"
children = [subprocess.Popen([sys.executable, "-c", helper], start_new_session=alone) for alone in (False, True)]
orphan = (
    "import subprocess as s, sys; command = [sys.executable, '-c', sys.argv[1]]; "
    "print(s.Popen(command, start_new_session=True, stdout=s.DEVNULL).pid)"
)
left = subprocess.run([sys.executable, "-c", orphan, helper], stdout=subprocess.PIPE, text=True).stdout
open(sys.argv[1], "w").write(" ".join([*(str(child.pid) for child in children), left.strip(), "."]))
if sys.argv[2] == "ends":
    sys.exit(7)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
time.sleep(60)
"""


def guarded(pids: Path, how: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SERVER, str(pids), how]
    return subprocess.Popen([sys.executable, "-m", "pipeline.guard", str(os.getpid()), *command], cwd=ROOT)


def tree_of(pids: Path) -> list[int]:
    """The server's two children, and the orphan of one that has ended."""
    wait_until(lambda: pids.exists() and pids.read_text().endswith("."), "the tree stands")
    return [int(pid) for pid in pids.read_text().split()[:-1]]


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize(("how", "code"), [("ends", 7), ("stays", 5)])
def test_exit_is_the_commands_and_what_it_left_is_ended(tmp_path: Path, how: str, code: int) -> None:
    with guarded(tmp_path / "pids", how) as guard:
        pids = tree_of(tmp_path / "pids")
        if how == "stays":
            assert len(alive(pids)) == 3
            guard.terminate()
        assert guard.wait(10) == code
        assert alive(pids) == []


def test_usr1_kills_the_whole_tree(tmp_path: Path) -> None:
    with guarded(tmp_path / "pids", "stays") as guard:
        pids = tree_of(tmp_path / "pids")
        guard.send_signal(signal.SIGUSR1)
        assert guard.wait(10) == -signal.SIGKILL
        assert alive(pids) == []


def test_tree_ends_when_the_parent_is_killed(tmp_path: Path) -> None:
    parent = (
        "import os, subprocess, sys; subprocess.run([sys.executable, '-m', 'pipeline.guard', str(os.getpid()), *sys.argv[1:]])"
    )
    command = [sys.executable, "-c", SERVER, str(tmp_path / "pids"), "stays"]
    with subprocess.Popen([sys.executable, "-c", parent, *command], cwd=ROOT) as process:
        pids = tree_of(tmp_path / "pids")
        process.kill()
        wait_until(lambda: alive(pids) == [], "nothing of the tree is left", 10)
