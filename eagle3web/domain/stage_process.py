"""The stage as a process: started in a group of its own, spoken to without ever blocking, ended to the last child."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eagle3web.domain import procfs
from eagle3web.domain.stage_environment import stage_environment
from pipeline.artifacts import AttemptFolder

ATTEMPT_MARK = "EAGLE3_ATTEMPT"
"""Environment variable that every process of an attempt carries; its value is the attempt's folder, which nobody else has."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long a stage may take to end, in seconds."""

    stop_s: float = 30.0
    """After the control message, until TERM."""
    term_s: float = 5.0
    """After TERM, until KILL."""


class StageProcess:
    """A running stage. Start it from the main thread: the kernel ends it with the thread that started it."""

    def __init__(self, argv: Sequence[str], *, folder: AttemptFolder, cwd: Path) -> None:
        """Raises OSError when it cannot be started."""
        reading, self._stdin = os.pipe()
        with folder.log.open("ab") as log, os.fdopen(reading, "rb"):
            self._process = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env=stage_environment(os.environ) | {"PYTHONUNBUFFERED": "1", ATTEMPT_MARK: str(folder.path)},
                stdin=reading,
                stdout=log,
                stderr=log,
                process_group=0,
            )
        self._folder = folder
        self._pending = b""
        self._ending: list[tuple[float, signal.Signals]] = []
        self.pid = self._process.pid
        self.started = procfs.start_time(self.pid)
        os.set_blocking(self._stdin, False)

    def write(self, line: bytes) -> None:
        """Hand a line over, now or when the stage reads again: one that is stopped must not hold us up."""
        self._pending += line
        self.flush()

    def flush(self) -> None:
        try:
            while self._pending:
                self._pending = self._pending[os.write(self._stdin, self._pending) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._pending = b""

    def end(self, patience: Patience) -> None:
        """Set the time of TERM and of KILL, for a stage that does not end by itself. A second call changes nothing."""
        if not self._ending:
            term = time.monotonic() + patience.stop_s
            self._ending = [(term, signal.SIGTERM), (term + patience.term_s, signal.SIGKILL)]

    def press(self) -> signal.Signals | None:
        """Send the signal that is due, if one is, to the whole group; the signal that was sent."""
        if not self._ending or time.monotonic() < self._ending[0][0]:
            return None
        _moment, sig = self._ending.pop(0)
        if not self._ending:
            self._ending = [(float("inf"), signal.SIGKILL)]
        os.killpg(self.pid, sig)
        # One that is stopped acts on TERM only once it goes on.
        os.killpg(self.pid, signal.SIGCONT)
        return sig

    def has_ended(self) -> bool:
        """Whether the stage has ended. It stays a zombie until `reap`, so that its pid remains ours."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return self._process.returncode is not None or os.waitid(os.P_PID, self.pid, flags) is not None

    def reap(self) -> int:
        """Kill what the stage left behind, then collect its exit: subprocess's number, negative for a signal."""
        kill_processes(self._folder)
        os.close(self._stdin)
        return self._process.wait()


def kill_processes(folder: AttemptFolder) -> list[int]:
    """Kill every process of an attempt; the pids that were killed."""
    return procfs.kill_marked(ATTEMPT_MARK, str(folder.path))
