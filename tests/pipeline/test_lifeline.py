import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from pipeline.lifeline import is_cut
from tests.support.servers import wait_until

CHILD = """
import os, sys, time
from pathlib import Path
from pipeline.lifeline import tie_to
tie_to(os.getppid())
Path(sys.argv[1]).write_text(str(os.getpid()))
time.sleep(60)
"""
PARENT = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", sys.argv[2], sys.argv[1]]).wait()
"""


def test_process_dies_with_the_one_that_it_is_tied_to(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", PARENT, str(pid_file), CHILD]) as parent:
        wait_until(lambda: pid_file.exists() and pid_file.read_text() != "", "the child is tied")
        child = int(pid_file.read_text())
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        wait_until(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie", "the child is dead", 5)


def test_process_whose_parent_has_gone_does_not_begin() -> None:
    script = "from pipeline.lifeline import tie_to; tie_to(1)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "InterruptedRunError: the supervisor is gone" in done.stderr


def test_lifeline_is_cut_when_the_parent_is_another() -> None:
    assert not is_cut(os.getppid())
    assert is_cut(os.getpid())
