"""The server as a process: with its children it ends when we say so, and with us, however we end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.process_ends import how_it_ended, last_words

TERM_S = 12.0
"""From TERM to the end of everything: SGLang looks every 5 s whether it was asked, and then gives its children some more."""
KILL_S = 5.0


class ServerProcess:
    """Starts at once, in a process group of its own. Make it in the main thread: the kernel ties a child to its maker."""

    def __init__(self, command: Sequence[str], *, log: Path, environment: Mapping[str, str]) -> None:
        self.log = log
        guarded = [sys.executable, "-m", "pipeline.guard", str(os.getpid()), *command]
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                guarded, stdin=subprocess.DEVNULL, stdout=out, stderr=out, process_group=0, env=dict(environment)
            )
        self.pid = self._process.pid
        self._ask_until: float | None = None

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def fault(self) -> str:
        """How it ended and its last words; empty while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        said = last_words(self.log)
        return f"the server {how_it_ended(code)}{': ' + said if said else ''} (its log: {self.log.name})"

    def terminate(self) -> None:
        """Ask it to end in its own time; `wait` makes sure that it does."""
        if self._process.poll() is None:
            self._process.terminate()
            self._ask_until = time.monotonic() + TERM_S

    def kill(self) -> None:
        """End it and everything that it started, now."""
        self._ask_until = None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGUSR1)
            # One that is stopped acts on it only once it goes on.
            self._process.send_signal(signal.SIGCONT)

    def wait(self) -> None:
        """Until nothing of it is left: what was asked to end gets its time, and then no more."""
        if self._ask_until is not None:
            try:
                self._process.wait(max(0.0, self._ask_until - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.kill()
        try:
            self._process.wait(KILL_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
