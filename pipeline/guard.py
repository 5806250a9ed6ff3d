"""Run a command whose whole tree of processes ends with the one that started it: `python -m pipeline.guard PARENT COMMAND…`.

A server starts processes of its own, and some of them start more, in sessions of their own. The guard adopts those whose
parents end, so that all of them stay its descendants. TERM is passed on to the command alone, which may end in its own time.
USR1, which the kernel sends when the parent dies, kills every descendant. The guard's exit is the command's.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pipeline.lifeline import adopt_orphans, tie_to

LOOK_S = 0.02


def main() -> None:
    parent, *command = sys.argv[1:]
    ending: list[bool] = []

    def kill_all(*_signal: object) -> None:
        ending.append(True)
        kill_descendants()

    signal.signal(signal.SIGUSR1, kill_all)
    adopt_orphans()
    tie_to(int(parent), by=signal.SIGUSR1)
    # Should the guard itself be killed, the command goes with it.
    process = subprocess.Popen([sys.executable, "-m", "pipeline.tied", str(os.getpid()), *command])
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    if ending:
        kill_descendants()
    code = process.wait()
    _end_the_rest()
    if code < 0:
        _die_by(-code)
    sys.exit(code)


def kill_descendants() -> None:
    for pid in _descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    children = [int(child) for child in _children(pid)]
    return children + [below for child in children for below in _descendants(child)]


def _children(pid: int) -> list[str]:
    found: list[str] = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        # A thread or a process may end while we look.
        with contextlib.suppress(OSError):
            found += (task / "children").read_text().split()
    return found


def _end_the_rest() -> None:
    """What the command left behind, to the last."""
    while True:
        kill_descendants()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(LOOK_S)


def _die_by(number: int) -> None:
    """So that our parent sees how the command ended."""
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


if __name__ == "__main__":
    main()
