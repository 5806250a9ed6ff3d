"""A stage without a model, for tests of the supervisor: `python fake_stage.py FOLDER --control-stdin --supervisor-pid PID`.

Its config.json holds the fields of `Script`. It speaks the stage protocol in full: events, ticks, control, exit codes.
"""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from pipeline import control, events
from pipeline.artifacts import AttemptFolder, read_json, write_tick
from pipeline.config import from_mapping
from pipeline.lifeline import tie_to


@dataclass(frozen=True, kw_only=True)
class Script:
    """What the fake does; each step moves its one dataset by ten tokens."""

    steps: int = 3
    step_s: float = 0.05
    dataset: str = "B1"
    budget: int = 1_000_000
    log_each_step: bool = True
    first_words: str = ""
    """Written to the log at once, as they are."""
    ignore_stop: bool = False
    ignore_term: bool = False
    fail_at: int = -1
    """Step at which it fails with a reason."""
    exit_at: int = -1
    """Step at which it exits without a word."""
    exit_code: int = 0
    leave_child: bool = False
    """Start a process in a session of its own that would live on."""


class FakeStage:
    def __init__(self, folder: AttemptFolder) -> None:
        self.folder = folder
        self.script = from_mapping(Script, read_json(folder.config))
        self.events = events.EventWriter(folder.events)
        self.controls = control.ControlReader(sys.stdin.buffer)
        self.done = 0
        self.paused = False
        self.budget, self.version = self.script.budget, 1

    def run(self) -> int:
        script = self.script
        if script.ignore_term:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if script.leave_child:
            subprocess.Popen(["/bin/sleep", "300"], start_new_session=True)
        sys.stdout.write(script.first_words)
        self.events.emit(events.StageStarted(stage="generate", config_hash="0" * 8, versions={"fake": "1"}))
        self.events.emit(
            events.DatasetStarted(
                dataset=script.dataset, prompts=script.steps, done=0, tokens=0, budget=self.budget, budget_version=1
            )
        )
        while self.done < script.steps:
            write_tick(self.folder)
            if (code := self._obey()) is not None:
                return code
            if self.done == script.exit_at:
                return script.exit_code
            if self.done == script.fail_at:
                self.events.emit(events.StageFailed(reason="disk full while writing part-00001.jsonl", kept="all answers"))
                return 1
            if not self.paused:
                self._step()
            time.sleep(script.step_s)
        self._finish_dataset("exhausted")
        self.events.emit(events.StageFinished(summary={"tokens": self.done * 10}))
        return 0

    def _step(self) -> None:
        self.done += 1
        if self.script.log_each_step:
            sys.stdout.write(f"step {self.done}\n")
        self.events.emit(
            events.GenerationProgress(
                dataset=self.script.dataset,
                done=self.done,
                total=self.script.steps,
                errors=0,
                truncated=0,
                tokens=self.done * 10,
                in_flight=1,
                in_flight_tokens=10,
                requests_per_s=1.0,
                tokens_per_s=10.0,
                mean_completion=10.0,
                longest=10,
                eta_s=None,
            )
        )

    def _obey(self) -> int | None:
        """Do as told; an exit code when that was to stop."""
        for message in self.controls.poll():
            match message:
                case control.Stop() if not self.script.ignore_stop:
                    self._finish_dataset("stopped")
                    self.events.emit(events.StageInterrupted(reason=message.reason, summary={"tokens": self.done * 10}))
                    return 3
                case control.SetBudget():
                    self.events.emit(
                        events.BudgetApplied(
                            dataset=message.dataset,
                            budget=message.tokens,
                            previous=self.budget,
                            budget_version=message.version,
                        )
                    )
                    self.budget = message.tokens or 0
                case control.Pause() | control.Resume():
                    self.paused = isinstance(message, control.Pause)
                    self.events.emit(events.StatusChanged(text="paused" if self.paused else "", paused=self.paused))
        return None

    def _finish_dataset(self, reason: str) -> None:
        self.events.emit(
            events.DatasetFinished(
                dataset=self.script.dataset,
                reason=reason,
                done=self.done,
                total=self.script.steps,
                tokens=self.done * 10,
                budget=self.budget,
                errors=0,
                truncated=0,
                longest=10,
                finish_reasons={"stop": self.done},
            )
        )


if __name__ == "__main__":
    tie_to(int(sys.argv[sys.argv.index("--supervisor-pid") + 1]))
    code = FakeStage(AttemptFolder(Path(sys.argv[1]))).run()
    sys.stdout.flush()
    os._exit(code)  # the thread that reads the input would hold up a normal exit
