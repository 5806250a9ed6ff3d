"""A signal in the first moments of a stage."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.artifacts import AttemptFolder, write_json
from pipeline.events import read_events
from tests.support.servers import wait_until

HAND_OVER = """
import os, signal, sys, time
from pipeline import early_stop
early_stop.listen()
assert early_stop.asked() is None
os.kill(os.getpid(), signal.SIGTERM)
assert early_stop.asked() == "stopped by SIGTERM"
heard = []
signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
deadline = time.monotonic() + 20
while not heard and time.monotonic() < deadline:
    time.sleep(0.01)
print(*heard)
"""


def test_early_signal_is_handed_over_once_somebody_handles_it() -> None:
    done = subprocess.run([sys.executable, "-c", HAND_OVER], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == [str(int(signal.SIGTERM))]


ANSWERS = {"dataset": "B1", "revision": "r1"}
CONFIGS: dict[str, dict[str, Any]] = {
    "generate": {"project": "k2", "responses": "responses", "tokenizer": "absent"},
    "extract": {"project": "k2", "responses": "responses", "datasets": [ANSWERS], "hidden": "hidden", "target": "absent"},
    "train": {"project": "k2", "hidden": ["hidden"], "checkpoints": "checkpoints", "target": "absent"},
    "benchmark": {
        "project": "k2",
        "drafter": "absent",
        "output": "out",
        "target": "absent",
        "prompts": [ANSWERS | {"prompts": "absent"}],
    },
}


def catches(process: subprocess.Popen[bytes], number: signal.Signals) -> bool:
    """Whether the process has a handler for the signal."""
    assert process.poll() is None
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
    return bool(int(status["SigCgt"], 16) >> (number - 1) & 1)


@pytest.mark.slow
@pytest.mark.parametrize("stage", CONFIGS)
def test_stage_that_is_stopped_while_it_loads_says_that_it_was_interrupted(tmp_path: Path, stage: str) -> None:
    folder = AttemptFolder(tmp_path)
    write_json(folder.config, CONFIGS[stage])
    process = subprocess.Popen([sys.executable, "-m", "pipeline", stage, str(tmp_path)], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: catches(process, signal.SIGTERM), "the stage listens")
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 3
    finally:
        process.kill()
        process.wait()
    events = [line for line, _ in read_events(folder.events)]
    assert [line.kind for line in events] == ["stage_started", "stage_interrupted"]
    assert events[-1].payload["reason"] == "stopped by SIGTERM"
