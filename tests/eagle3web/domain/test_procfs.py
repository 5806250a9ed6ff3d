"""Processes by pid and start time."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from eagle3web.domain import procfs
from tests.support.servers import wait_until


def sleeper(**environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["/bin/sleep", "60"], env=os.environ | environment)


def test_is_alive_needs_pid_and_start_time() -> None:
    process = sleeper()
    started = procfs.start_time(process.pid)
    assert procfs.is_alive(process.pid, started)
    assert not procfs.is_alive(process.pid, (started or 0) + 1)
    assert not procfs.is_alive(process.pid, None)
    assert not procfs.is_alive(None, started)
    process.kill()
    process.wait()
    assert not procfs.is_alive(process.pid, started)


def test_is_alive_counts_stopped_but_not_zombies() -> None:
    process = sleeper()
    started = procfs.start_time(process.pid)
    process.send_signal(signal.SIGSTOP)
    assert procfs.is_alive(process.pid, started)
    process.kill()
    wait_until(lambda: not procfs.is_alive(process.pid, started), "the process is a zombie")
    assert process.wait() == -signal.SIGKILL


def test_start_time_survives_odd_process_names(tmp_path: Path) -> None:
    program = tmp_path / "odd ) name (1 2"
    program.symlink_to(sys.executable)
    process = subprocess.Popen([program, "-c", "import time; time.sleep(60)"])
    try:
        wait_until(lambda: b"odd )" in Path(f"/proc/{process.pid}/stat").read_bytes(), "the program is loaded")
        assert (procfs.start_time(process.pid) or 0) > 0
    finally:
        process.kill()
        process.wait()


def test_kill_marked_kills_what_carries_the_mark_and_nothing_else() -> None:
    ours, other = sleeper(EAGLE3_TEST="a b"), sleeper(EAGLE3_TEST="a")
    wait_until(lambda: list(procfs.marked("EAGLE3_TEST", "a b")) == [ours.pid], "the process carries its mark")
    assert procfs.kill_marked("EAGLE3_TEST", "a b") == [ours.pid]
    assert ours.wait() == -signal.SIGKILL
    assert other.poll() is None
    assert list(procfs.marked("EAGLE3_TEST", "a b")) == []
    other.kill()
    other.wait()


def test_boot_id_is_there() -> None:
    assert len(procfs.boot_id()) == 36
