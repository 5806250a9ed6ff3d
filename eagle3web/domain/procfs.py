"""Whether a process lives: pid, start time and boot id together, because pids are used again."""

import contextlib
import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PROC = Path("/proc")


@cache
def boot_id() -> str:
    """Another one after every boot of this host."""
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def start_time(pid: int) -> float | None:
    """Clock ticks from boot to the start of the process; None when there is none, or only its zombie."""
    fields = _stat(pid)
    return None if fields is None or fields[0] in "ZX" else float(fields[19])


def is_alive(pid: int | None, started: float | None) -> bool:
    """Whether that very process runs (or is stopped) on this host now."""
    return pid is not None and started is not None and start_time(pid) == started


def marked(name: str, value: str) -> Iterator[int]:
    """Pids of all processes that were started with this environment variable, zombies left out."""
    wanted = os.fsencode(f"{name}={value}")
    for folder in PROC.glob("[0-9]*"):
        pid = int(folder.name)
        if wanted in _environment(pid).split(b"\0") and start_time(pid) is not None:
            yield pid


def kill_marked(name: str, value: str) -> list[int]:
    """Kill every process with this environment variable, wherever its parents and groups went; the pids that were killed.

    A pid or a group's number may have been given to somebody else since; a mark that only we set says what is ours.
    """
    killed: list[int] = []
    # One that was forked while we looked is found by the next look.
    while found := [pid for pid in marked(name, value) if pid not in killed]:
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        killed += found
    return killed


def _environment(pid: int) -> bytes:
    """Empty when we may not look, or the process is gone."""
    try:
        return (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return b""


def _stat(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat from the third one (state) on; the second one, the name, may hold blanks and brackets."""
    try:
        return (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
