"""An embedded engine as a process of our own: it ends when we stop it, and with us, however we end."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pipeline.artifacts import read_json
from pipeline.errors import EngineUnavailableError
from pipeline.process_ends import how_it_ended, last_words

LONGEST_LOAD_S = 1800.0
LOOK_S = 0.1
PATIENCE_S = 5.0
"""From TERM to KILL."""


class EngineProcess:
    """Starts at once. It has a process group of its own: a signal meant for the stage must not cut off its last requests."""

    def __init__(self, name: str, command: Sequence[str], folder: Path) -> None:
        """`command` takes `--ready-file FILE`. Its output goes to engine-NAME.log in `folder`. Call it from the main thread:
        the kernel ties a child to the thread that made it.
        """
        self.name = name
        self.log = folder / f"engine-{name}.log"
        self._ready = folder / f"engine-{name}.json"
        self._ready.unlink(missing_ok=True)
        tied = [sys.executable, "-m", "pipeline.tied", str(os.getpid()), *command, "--ready-file", str(self._ready)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                tied,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    async def url(self) -> str:
        """Its address, once its model is loaded. Raises EngineUnavailableError when it ends before, or takes too long."""
        deadline = time.monotonic() + LONGEST_LOAD_S
        while not self._ready.exists():
            if fault := self.fault():
                raise EngineUnavailableError(fault)
            if time.monotonic() > deadline:
                raise EngineUnavailableError(f"engine {self.name} was not ready within {LONGEST_LOAD_S:.0f} s; see {self.log}")
            await asyncio.sleep(LOOK_S)
        return str(read_json(self._ready)["url"])

    def fault(self) -> str:
        """How it ended and its last words, for a person; empty while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        said = last_words(self.log)
        return f"engine {self.name} {how_it_ended(code)}{': ' + said if said else ''} (its log: {self.log})"

    def terminate(self) -> None:
        """Ask it to end; `wait` makes sure that it does."""
        if self._process.poll() is None:
            self._process.terminate()

    def wait(self) -> None:
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._ready.unlink(missing_ok=True)
