"""Two real SGLang servers for the whole session, started side by side: one decodes plainly, one with a drafter trained here."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from pipeline.drafter_events import CheckpointSaved
from pipeline.events import Line
from pipeline.training.config import CheckpointConfig, EvalConfig
from tests.support.generation import StageProcess
from tests.support.serve import SGLANG, START_S, ServeRun, serve_run
from tests.support.tiny_training import make_files, tiny_config, train

STEPS = 120


@dataclass(frozen=True)
class Served:
    """A serve run with its newest attempt."""

    run: ServeRun
    stage: StageProcess
    ready: Line

    @property
    def url(self) -> str:
        return str(self.ready.payload["url"])


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random target, its greedy answers, and their hidden states."""
    torch.set_num_threads(1)
    return make_files(tmp_path_factory.mktemp("sglang"), documents=80)


@pytest.fixture(scope="session")
def checkpoint(files: Path) -> Path:
    """An EAGLE-3 drafter that was trained for some seconds and exported as training exports."""
    config = tiny_config(
        files,
        max_steps=STEPS,
        epochs=1000,
        evaluation=EvalConfig(held_out_share=0.1, every_steps=STEPS, decode_prompts=0),
        saving=CheckpointConfig(every_steps=STEPS),
    )
    _, told = train(config, files / "train")
    return Path([event.path for event in told if isinstance(event, CheckpointSaved)][-1])


@pytest.fixture(scope="session")
def started(files: Path, checkpoint: Path) -> Iterator[dict[str, tuple[ServeRun, StageProcess]]]:
    """Both servers on their way: they load while the first test waits for the first of them."""
    assert SGLANG.exists(), "there is no SGLang here; `make sglang` installs it"
    limits = {"max_running": 4, "max_queued": 4, "target": str(files / "target"), "drain_s": 10.0}
    drafts = {"drafter": str(checkpoint), "drafter_name": "r1 step 120", "speculation": "drafter"}
    with serve_run(files / "plain", **limits) as plain, serve_run(files / "drafting", **limits, **drafts) as drafting:
        yield {"plain": (plain, plain.start()), "drafting": (drafting, drafting.start())}


@pytest.fixture(scope="session")
def plain(started: dict[str, tuple[ServeRun, StageProcess]]) -> Served:
    run, stage = started["plain"]
    return Served(run, stage, stage.wait_for("server_ready", timeout_s=START_S))


@pytest.fixture(scope="session")
def drafting(started: dict[str, tuple[ServeRun, StageProcess]]) -> Served:
    run, stage = started["drafting"]
    return Served(run, stage, stage.wait_for("server_ready", timeout_s=START_S))
