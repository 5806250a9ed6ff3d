"""Serve runs as real processes: `python -m pipeline serve FOLDER`, with a real SGLang behind it."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from pipeline.artifacts import AttemptFolder, write_json
from tests.support.generation import StageProcess
from tests.support.servers import ROOT

SGLANG = ROOT / ".venv-sglang" / "bin" / "python"
SHIM = ROOT / "tests" / "sglang_cpu"
START_S = 420.0
"""Longest start on two busy cores; half a minute is usual."""
MARK = "EAGLE3_TEST_SERVER"
"""Environment variable by which everything that a test's server starts is found again."""


class ServeRun:
    """A run's folder and its attempts."""

    def __init__(self, root: Path, **config: Any) -> None:
        self.root = root
        self.config: dict[str, Any] = {
            "project": "test",
            "engine": "sglang",
            "port": 0,
            "device": "cpu",
            "dtype": "float32",
            "max_total_tokens": 4096,
            "python": str(SGLANG),
        } | config
        self._processes: list[StageProcess] = []

    def start(self) -> StageProcess:
        """One more attempt."""
        folder = AttemptFolder(self.root / "attempts" / str(len(self._processes) + 1))
        folder.path.mkdir(parents=True)
        write_json(folder.config, self.config)
        command = [sys.executable, "-u", "-m", "pipeline", "serve", str(folder.path)]
        command += ["--control-stdin", "--supervisor-pid", str(os.getpid())]
        marked = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(SHIM), MARK: str(self.root)}
        started = time.time()
        with folder.log.open("wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=marked, process_group=0)
        self._processes.append(StageProcess(folder, process, started))
        return self._processes[-1]

    @property
    def left(self) -> list[str]:
        """Commands of processes that this run started and that still live."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get(MARK) == str(self.root) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(" ".join(process.cmdline()))
        return found

    def close(self) -> None:
        for stage in self._processes:
            stage.close()


@contextlib.contextmanager
def serve_run(root: Path, **config: Any) -> Iterator[ServeRun]:
    """A run whose processes are ended on the way out."""
    root.mkdir(parents=True, exist_ok=True)
    run = ServeRun(root, **config)
    try:
        yield run
    finally:
        run.close()
