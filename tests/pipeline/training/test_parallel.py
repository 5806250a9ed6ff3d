"""Two processes with gloo train as one does."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
import torch

from pipeline.artifacts import write_json
from pipeline.checkpoint import load_training_state
from pipeline.config import to_mapping
from pipeline.drafter_events import EvalLogged, StepLogged
from pipeline.event import Event
from pipeline.events import read_events
from pipeline.training.config import TrainConfig
from pipeline.training.parallel import World, gathered, joined, sharded
from tests.support.tiny_training import tiny_config, train

SCRIPT = """
import faulthandler
import sys
from pipeline.__main__ import main
from pipeline.training import meter
meter.EVERY_S = 0.0
faulthandler.dump_traceback_later(200)
sys.exit(main(sys.argv[1:]))
"""


def train_in_two(config: TrainConfig, attempt: Path) -> list[Event]:
    """What the first of two processes told."""
    attempt.mkdir()
    write_json(attempt / "config.json", to_mapping(config))
    (attempt / "main.py").write_text(SCRIPT)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*launcher, str(attempt / "main.py"), "train", str(attempt)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            _, told = process.communicate(timeout=250)
        except subprocess.TimeoutExpired:
            # torchrun ends its processes, which have told by now where they wait.
            process.terminate()
            _, told = process.communicate()
        assert process.returncode == 0, told
    return [line.event for line, _ in read_events(attempt / "events.jsonl")]


@pytest.mark.slow
@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("kind", ["ddp", "fsdp2"])
def test_two_processes_have_the_losses_of_one(root: Path, kind: Literal["ddp", "fsdp2"]) -> None:
    config = tiny_config(root, max_steps=12)
    _, alone = train(replace(config, checkpoints=str(root / "alone"), accumulation=2), root / "attempt")
    together = train_in_two(replace(config, parallel=kind), root / "two")

    for one, two in zip(_steps(alone), _steps(together), strict=True):
        assert two.step_losses == pytest.approx(one.step_losses, rel=1e-5)
        assert (two.step, two.tokens, tuple(two.accuracy)) == (one.step, one.tokens, one.accuracy)
        assert two.grad_norm == pytest.approx(one.grad_norm, rel=1e-5)
    measured = [[event for event in told if isinstance(event, EvalLogged)] for told in (alone, together)]
    assert [event.accept_length for event in measured[0]] == pytest.approx([event.accept_length for event in measured[1]])

    states = [load_training_state(root / name / "step-000012") for name in ("alone", "checkpoints")]
    moments = [state["optimizer"]["state"][0]["exp_avg"] for state in states]
    torch.testing.assert_close(moments[1], moments[0], rtol=1e-3, atol=1e-6)

    # What two processes saved is a checkpoint like any other: one process goes on from it.
    resumed, told = train(replace(config, max_steps=14), root / "resumed")
    assert resumed.summary["steps"] == 14
    assert [event.step for event in _steps(told)] == [13, 14]


def _steps(told: Sequence[Event]) -> list[StepLogged]:
    return [event for event in told if isinstance(event, StepLogged)]


def test_one_process_is_a_world_of_its_own() -> None:
    with joined("cpu") as world:
        assert (world.rank, world.size, world.is_first) == (0, 1, True)
        assert world.share([1.5, 0.0]) == [1.5, 0.0]
        assert world.sum(torch.tensor([1, 2])).tolist() == [1, 2]


def test_gathering_and_sharding_leave_whole_tensors_alone() -> None:
    weight = torch.nn.Parameter(torch.randn(3, 2))
    optimizer = torch.optim.AdamW([weight])
    torch.autograd.backward(weight.sum())
    optimizer.step()
    state = gathered(optimizer.state_dict())
    again = sharded(state, optimizer)
    assert torch.equal(again["state"][0]["exp_avg"], optimizer.state_dict()["state"][0]["exp_avg"])
    assert World(rank=1, size=2, device=torch.device("cpu")).is_first is False
