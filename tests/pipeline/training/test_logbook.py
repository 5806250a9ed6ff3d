from importlib.util import find_spec
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

from pipeline.drafter_events import DecodeEvalLogged, EvalLogged
from pipeline.errors import ConfigError
from pipeline.events import Warned
from pipeline.training.logbook import open_logbook

EVALUATED = EvalLogged(step=10, loss=2.5, accuracy=(0.5, 0.25), accept_length=1.6, documents=3, datasets={"B1": 1.75})


def read(folder: Path) -> dict[str, list[tuple[int, float]]]:
    accumulator = EventAccumulator(str(folder))
    accumulator.Reload()
    return {tag: [(s.step, s.value) for s in accumulator.Scalars(tag)] for tag in accumulator.Tags()["scalars"]}


def test_numbers_lie_in_tensorboards_files(tmp_path: Path) -> None:
    book = open_logbook(tmp_path, step=0, also=(), run_name="r", config={})
    book.show(Warned(text="no number"))
    book.show(EVALUATED)
    book.show(DecodeEvalLogged(step=10, accept_length=1.5, prompts=2, tokens=9, datasets={"B1": 1.25}))
    book.close()
    assert read(tmp_path / "tensorboard") == {
        "eval/loss": [(10, 2.5)],
        "eval/simulated_accept_length": [(10, pytest.approx(1.6))],
        "eval/acc_0": [(10, 0.5)],
        "eval/acc_1": [(10, 0.25)],
        "eval/simulated_accept_length/B1": [(10, 1.75)],
        "decode/accept_length": [(10, 1.5)],
        "decode/accept_length/B1": [(10, 1.25)],
    }


@pytest.mark.skipif(find_spec("wandb") is not None, reason="wandb is installed here")
def test_tool_that_is_not_installed_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="logging to wandb was asked for and the package is not installed"):
        open_logbook(tmp_path, step=0, also=("wandb",), run_name="r", config={})
