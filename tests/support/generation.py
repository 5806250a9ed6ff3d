"""Generation runs as real processes: `python -m pipeline generate FOLDER` over made-up prompts and a stub engine."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline import control
from pipeline.artifacts import AttemptFolder, write_json
from pipeline.config import SamplingConfig
from pipeline.datasets.conversation import Conversation, new_conversation
from pipeline.events import Line, read_events
from pipeline.responses.reading import Recount, recount
from tests.support.models import tiny_tokenizer
from tests.support.servers import wait_until

VOCAB = 300


class StageProcess:
    """A stage that runs, or has run."""

    def __init__(self, folder: AttemptFolder, process: subprocess.Popen[bytes], started: float) -> None:
        self.folder = folder
        self.process = process
        self.started = started
        """time.time() just before the process was started."""

    @property
    def events(self) -> list[Line]:
        return [line for line, _ in read_events(self.folder.events)]

    def said(self, kind: str, **fields: Any) -> list[Line]:
        """Events of a kind whose fields have these values."""
        return [
            line
            for line in self.events
            if line.kind == kind and all(line.payload.get(key) == value for key, value in fields.items())
        ]

    def wait_for(self, kind: str, *, timeout_s: float = 30.0, **fields: Any) -> Line:
        def happened() -> bool:
            assert self.process.poll() is None or self.said(kind, **fields), f"it ended first:\n{self.log[-3000:]}"
            return bool(self.said(kind, **fields))

        wait_until(happened, f"{kind} {fields} is said", timeout_s)
        return self.said(kind, **fields)[0]

    def tell(self, message: control.Control) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(control.encode(message))
        self.process.stdin.flush()

    def wait(self, timeout_s: float = 60.0) -> int:
        """The exit code."""
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(
                f"not ended after {timeout_s:.0f} s; its tick: {self.tick}; its log:\n{self.log[-3000:]}"
            ) from error

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """End it with its group, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()

    @property
    def log(self) -> str:
        return self.folder.log.read_text()

    @property
    def tick(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.folder.heartbeat.read_text())
        return found


class GenerateRun:
    """A run's folder, its datasets and its attempts."""

    def __init__(self, root: Path, *engines: str, **config: Any) -> None:
        self.root = root
        self.responses = root / "responses"
        self._attempts = 0
        self._processes: list[StageProcess] = []
        self.config: dict[str, Any] = {
            "project": "test",
            "responses": str(self.responses),
            "tokenizer": str(tiny_tokenizer(root / "tokenizer")),
            "engines": [{"name": f"e{n}", "url": url} for n, url in enumerate(engines, start=1)],
            "concurrency": 8,
            "datasets": [],
        } | config

    def add(self, slug: str, prompts: int | list[Conversation] = 100, **plan: Any) -> None:
        """A dataset; `plan` holds fields of DatasetPlan, and those of its sampling."""
        rows = made_up(slug, prompts) if isinstance(prompts, int) else prompts
        path = self.root / f"{slug}.jsonl"
        path.write_bytes(b"".join(row.to_line() for row in rows))
        names = SamplingConfig.__dataclass_fields__
        sampling = {"max_new_tokens": 64} | {key: plan.pop(key) for key in list(plan) if key in names}
        self.config["datasets"].append(
            {"slug": slug, "revision": "r1", "prompts": str(path), "prompts_count": len(rows), "sampling": sampling} | plan
        )

    def start(self, *, env: dict[str, str] | None = None) -> StageProcess:
        """One more attempt."""
        self._attempts += 1
        folder = AttemptFolder(self.root / "attempts" / str(self._attempts))
        folder.path.mkdir(parents=True)
        write_json(folder.config, self.config)
        command = [sys.executable, "-u", "-m", "pipeline", "generate", str(folder.path)]
        command += ["--control-stdin", "--supervisor-pid", str(os.getpid())]
        started = time.time()
        with folder.log.open("wb") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=os.environ | (env or {}), process_group=0
            )
        self._processes.append(StageProcess(folder, process, started))
        return self._processes[-1]

    def finish(self, timeout_s: float = 60.0) -> StageProcess:
        """One more attempt, from start to end, which must be a good one."""
        stage = self.start()
        assert stage.wait(timeout_s) == 0, stage.log[-3000:]
        return stage

    def recount(self) -> dict[str, Recount]:
        return recount(self.responses)

    def close(self) -> None:
        for stage in self._processes:
            stage.close()


@contextlib.contextmanager
def generate_run(root: Path, *engines: str, **config: Any) -> Iterator[GenerateRun]:
    """A run whose processes are ended on the way out."""
    root.mkdir(parents=True, exist_ok=True)
    run = GenerateRun(root, *engines, **config)
    try:
        yield run
    finally:
        run.close()


def made_up(slug: str, count: int) -> list[Conversation]:
    return [
        new_conversation(label=f"{slug}-{n}", messages=({"role": "user", "content": f"question {n} of {slug}"},))
        for n in range(count)
    ]
