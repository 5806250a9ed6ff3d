"""`python -m pipeline train`, as supervisors and people call it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.artifacts import AttemptFolder, read_json, write_json
from pipeline.checkpoint import load_training_state
from pipeline.checkpoint_check import check_folder
from pipeline.config import to_mapping
from pipeline.control import Stop, encode
from pipeline.events import read_events
from pipeline.training.config import CheckpointConfig, EvalConfig, TrainConfig
from pipeline.training.saving import resumable_checkpoint, step_of
from tests.support.servers import wait_until
from tests.support.tiny_training import tiny_config

COMMAND = [sys.executable, "-m", "pipeline", "train"]
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def train(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False, env=ENVIRONMENT)


def endless(root: Path) -> TrainConfig:
    """Saves at each step, for hours."""
    saving = CheckpointConfig(every_steps=1)
    return tiny_config(root, max_steps=1_000_000, saving=saving, evaluation=EvalConfig(held_out_share=0.0))


def start(config: TrainConfig, folder: Path, *flags: str) -> subprocess.Popen[bytes]:
    folder.mkdir()
    write_json(folder / "config.json", to_mapping(config))
    return subprocess.Popen(
        [*COMMAND, "--folder", str(folder), *flags], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )


def kinds(folder: Path) -> list[str]:
    return [line.kind for line, _ in read_events(AttemptFolder(folder).events)]


@pytest.mark.slow
def test_run_by_flags_trains_and_goes_on_where_it_ended(root: Path) -> None:
    flags = ["--hidden", str(root / "hidden"), "--target", str(root / "target"), "--out", str(root / "out")]
    sizes = ["--draft-vocab", "64", "--batch-tokens", "80", "--ttt-steps", "2", "--decode-prompts", "0"]
    first = train(*flags, *sizes, "--max-steps", "4")
    assert first.returncode == 0, first.stderr
    assert "INFO finished: 4 steps" in first.stderr
    second = train(*flags, *sizes, "--max-steps", "6")
    assert second.returncode == 0, second.stderr
    assert sorted(path.name for path in (root / "out" / "checkpoints").glob("step-*")) == ["step-000004", "step-000006"]
    assert sorted(path.name for path in (root / "out" / "attempts").iterdir()) == ["1", "2"]


@pytest.mark.slow
def test_stop_by_control_saves_and_exits_as_interrupted(root: Path) -> None:
    config = tiny_config(root, max_steps=1_000_000, saving=CheckpointConfig(every_steps=1_000_000))
    with start(config, root / "attempt", "--control-stdin") as process:
        try:
            wait_until(lambda: "step_logged" in kinds(root / "attempt"), "the first step", 60)
            tick = read_json(root / "attempt" / "heartbeat")["t"]
            wait_until(lambda: read_json(root / "attempt" / "heartbeat")["t"] != tick, "another tick", 10)
            assert process.stdin is not None
            process.stdin.write(encode(Stop(reason="stopped by ada")))
            process.stdin.flush()
            assert process.wait(60) == 3
        finally:
            process.kill()
    assert kinds(root / "attempt")[-2:] == ["checkpoint_saved", "stage_interrupted"]
    saved = resumable_checkpoint(root / "checkpoints")
    assert saved is not None
    assert load_training_state(saved)["position"]["step"] == step_of(saved)


@pytest.mark.slow
def test_killed_while_it_saves_leaves_whole_checkpoints_and_goes_on(root: Path) -> None:
    for attempt in range(3):
        folder = root / f"attempt{attempt}"
        with start(endless(root), folder) as process:
            try:
                wait_until(lambda folder=folder: "checkpoint_saved" in kinds(folder), "a checkpoint", 60)
                time.sleep(0.013 * attempt)
            finally:
                process.send_signal(signal.SIGKILL)
        newest = resumable_checkpoint(root / "checkpoints")
        assert newest is not None
        assert step_of(newest) > attempt
        for checkpoint in (root / "checkpoints").glob("step-*"):
            assert check_folder(checkpoint) == []
            assert load_training_state(checkpoint)["position"]["step"] == step_of(checkpoint)


def test_unknown_key_is_named_at_the_shell_and_in_the_events(tmp_path: Path) -> None:
    write_json(tmp_path / "config.json", {"project": "p", "target": "t", "checkpoints": "c", "hidden": ["h"], "epoks": 3})
    done = train(str(tmp_path))
    assert done.returncode == 2
    assert "unknown key epoks" in done.stderr
    assert kinds(tmp_path) == ["stage_started", "stage_failed"]


@pytest.mark.slow
def test_missing_states_fail_with_their_folder(tmp_path: Path, made: Path) -> None:
    done = train("--hidden", str(tmp_path / "none"), "--target", str(made / "target"), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert "no hidden states here" in done.stderr
    assert kinds(tmp_path / "out" / "attempts" / "1")[-1] == "stage_failed"


def test_help_does_not_wait_for_torch() -> None:
    script = (
        "import sys; from pipeline.__main__ import main\n"
        "try: main(['train', '--help'])\nexcept SystemExit: pass\nprint('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines()[-1] == "False"
    assert "Exit status: 0 finished, 1 failed" in done.stdout
