"""A stage on several devices starts its other processes itself, and none outlives another."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from pipeline.artifacts import write_json
from pipeline.config import to_mapping
from pipeline.drafter_events import StepLogged
from pipeline.errors import InterruptedRunError
from pipeline.events import StageFailed, StageInterrupted, read_events
from pipeline.training.config import CheckpointConfig, EvalConfig, TrainConfig
from pipeline.training.peers import PEER_OF, follow_stage, peers
from tests.pipeline.training.test_cli import COMMAND, ENVIRONMENT
from tests.support.servers import wait_until
from tests.support.tiny_training import tiny_config, train

Starter = Callable[[TrainConfig, Path], "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Starter]:
    """Starts a training on two devices in a folder; ends what a test left."""
    with ExitStack() as ends:

        def start(config: TrainConfig, folder: Path) -> "subprocess.Popen[bytes]":
            folder.mkdir()
            write_json(folder / "config.json", to_mapping(replace(config, devices=("cpu", "cpu"))))
            with (folder / "log").open("wb") as log:
                process = subprocess.Popen([*COMMAND, str(folder)], stdin=subprocess.PIPE, stderr=log, env=ENVIRONMENT)
            ends.enter_context(process)
            ends.callback(process.kill)
            return process

        yield start


def steps(folder: Path) -> list[StepLogged]:
    return [line.event for line, _ in read_events(folder / "events.jsonl") if isinstance(line.event, StepLogged)]


@pytest.fixture
def endless(root: Path) -> TrainConfig:
    saving = CheckpointConfig(every_steps=1)
    return tiny_config(root, max_steps=1_000_000, saving=saving, evaluation=EvalConfig(held_out_share=0.0))


def peer_of(process: "subprocess.Popen[bytes]") -> psutil.Process:
    wait_until(lambda: psutil.Process(process.pid).children(), "a peer has started")
    (peer,) = psutil.Process(process.pid).children()
    return peer


def has_ended(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@pytest.mark.slow
def test_two_devices_have_the_losses_of_one(root: Path, start: Starter) -> None:
    config = tiny_config(root, max_steps=1)
    _, alone = train(replace(config, checkpoints=str(root / "alone"), accumulation=2), root / "attempt")
    process = start(config, root / "two")
    assert process.wait(120) == 0, (root / "two" / "log").read_text()
    (one,), (two,) = [event for event in alone if isinstance(event, StepLogged)], steps(root / "two")
    assert two.step_losses == pytest.approx(one.step_losses, rel=1e-5)
    assert two.grad_norm == pytest.approx(one.grad_norm, rel=1e-5)


@pytest.mark.slow
def test_stage_whose_peer_dies_says_which_one_and_how(root: Path, endless: TrainConfig, start: Starter) -> None:
    process = start(endless, root / "two")
    peer = peer_of(process)
    wait_until(lambda: steps(root / "two"), "a step is told", 90)
    peer.kill()
    assert process.wait(90) == 1
    last = [line.event for line, _ in read_events(root / "two" / "events.jsonl")][-1]
    assert isinstance(last, StageFailed)
    assert last.reason == "process 2 of 2 was killed by signal 9; its last lines are in the log"


@pytest.mark.slow
def test_signal_to_all_processes_ends_them_behind_a_checkpoint_and_a_killed_stage_takes_its_peer_along(
    root: Path, endless: TrainConfig, start: Starter
) -> None:
    process = start(endless, root / "first")
    peer = peer_of(process)
    wait_until(lambda: steps(root / "first"), "a step is told", 90)
    for one in (peer.pid, process.pid):
        os.kill(one, signal.SIGTERM)
    assert process.wait(60) == 3
    last = [line.event for line, _ in read_events(root / "first" / "events.jsonl")][-1]
    assert isinstance(last, StageInterrupted)
    assert last.reason == "stopped by SIGTERM"
    wait_until(lambda: has_ended(peer), "the peer has ended")

    process = start(endless, root / "second")
    peer = peer_of(process)
    process.kill()
    process.wait()
    wait_until(lambda: has_ended(peer), "the peer has ended with its stage", 60)


def test_one_device_needs_no_peer(tmp_path: Path) -> None:
    with peers(tmp_path, 1):
        assert "RANK" not in os.environ


def test_processes_that_torchrun_started_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    with peers(tmp_path, 2):
        assert psutil.Process().children() == []
    follow_stage()


def test_peer_of_a_stage_that_is_gone_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.lifeline.sys.platform", "elsewhere")
    monkeypatch.setenv(PEER_OF, "1")
    with pytest.raises(InterruptedRunError, match="first process is gone"):
        follow_stage()
