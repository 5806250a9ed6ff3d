"""Benchmarks as real processes: `python -m pipeline benchmark FOLDER` over made-up prompts."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.artifacts import AttemptFolder, read_json, write_json
from pipeline.datasets.conversation import Conversation
from tests.support.generation import StageProcess, made_up
from tests.support.models import tiny_tokenizer


class BenchmarkRun:
    """A run's folder, its prompts and its attempts."""

    def __init__(self, root: Path, **config: Any) -> None:
        self.root = root
        self.output = root / "output"
        self._processes: list[StageProcess] = []
        self.config: dict[str, Any] = {
            "project": "test",
            "output": str(self.output),
            "target": str(config.pop("target", None) or tiny_tokenizer(root / "target")),
            "prompts": [],
            "held_out_share": 1.0,
            "prompts_per_dataset": 3,
            "sampling": {"max_new_tokens": 24},
            "repetitions": 2,
            "warmup_prompts": 1,
        } | config

    def add(self, dataset: str, prompts: int | list[Conversation] = 12) -> None:
        rows = made_up(dataset, prompts) if isinstance(prompts, int) else prompts
        path = self.root / f"{dataset}.jsonl"
        path.write_bytes(b"".join(row.to_line() for row in rows))
        self.config["prompts"].append({"dataset": dataset, "revision": "r1", "prompts": str(path)})

    def serve(self, **urls: str) -> None:
        """Engines that run already, by mode."""
        self.config["served"] = [{"mode": mode, "engine": {"name": mode, "url": url}} for mode, url in urls.items()]

    def start(self) -> StageProcess:
        """One more attempt."""
        folder = AttemptFolder(self.root / "attempts" / str(len(self._processes) + 1))
        folder.path.mkdir(parents=True)
        write_json(folder.config, self.config)
        command = [sys.executable, "-u", "-m", "pipeline", "benchmark", str(folder.path)]
        command += ["--control-stdin", "--supervisor-pid", str(os.getpid())]
        started = time.time()
        with folder.log.open("wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                process_group=0,
            )
        self._processes.append(StageProcess(folder, process, started))
        return self._processes[-1]

    def finish(self, timeout_s: float = 120.0) -> StageProcess:
        """One more attempt, from start to end, which must be a good one."""
        stage = self.start()
        assert stage.wait(timeout_s) == 0, stage.log[-3000:]
        return stage

    @property
    def summary(self) -> dict[str, Any]:
        found: dict[str, Any] = read_json(self.output / "summary.json")
        return found

    def close(self) -> None:
        for stage in self._processes:
            stage.close()


@contextlib.contextmanager
def benchmark_run(root: Path, **config: Any) -> Iterator[BenchmarkRun]:
    """A run whose processes are ended on the way out."""
    root.mkdir(parents=True, exist_ok=True)
    run = BenchmarkRun(root, **config)
    try:
        yield run
    finally:
        run.close()
