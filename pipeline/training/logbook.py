"""The same numbers for the tools that people have already: TensorBoard always, MLflow and Weights & Biases when asked for."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from torch.utils.tensorboard import SummaryWriter

from pipeline.artifacts import naming_full_disks
from pipeline.drafter_events import DecodeEvalLogged, EvalLogged, StepLogged
from pipeline.errors import ConfigError
from pipeline.event import Event

FOLDER = "tensorboard"


class Book(Protocol):
    def write(self, values: Mapping[str, float], step: int) -> None: ...
    def close(self) -> None: ...


class TensorBoard:
    """Event files beside the checkpoints."""

    def __init__(self, checkpoints: Path, *, step: int) -> None:
        """`step`: steps done; what an earlier attempt wrote after it is taken back."""
        self._folder = checkpoints / FOLDER
        self._writer = SummaryWriter(str(self._folder), purge_step=step + 1)

    def write(self, values: Mapping[str, float], step: int) -> None:
        with naming_full_disks("TensorBoard's event file", self._folder):
            for name, value in values.items():
                self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class MLflow:
    def __init__(self, run_name: str, config: Mapping[str, Any]) -> None:
        self._mlflow = _imported("mlflow")
        self._mlflow.start_run(run_name=run_name)
        self._mlflow.log_dict(dict(config), "config.json")

    def write(self, values: Mapping[str, float], step: int) -> None:
        self._mlflow.log_metrics(dict(values), step=step)

    def close(self) -> None:
        self._mlflow.end_run()


class WeightsAndBiases:
    def __init__(self, run_name: str, config: Mapping[str, Any]) -> None:
        self._run = _imported("wandb").init(project="eagle3web", name=run_name, config=dict(config))

    def write(self, values: Mapping[str, float], step: int) -> None:
        self._run.log(dict(values), step=step)

    def close(self) -> None:
        self._run.finish()


class Logbook:
    """A watcher of events: numbers go to every book that is open."""

    def __init__(self, books: Sequence[Book]) -> None:
        self._books = list(books)

    def show(self, event: Event) -> None:
        """Write what an event measured. Raises DiskFullError."""
        if isinstance(event, StepLogged | EvalLogged | DecodeEvalLogged):
            for book in self._books:
                book.write(scalars(event), event.step)

    def close(self) -> None:
        with ExitStack() as stack:
            for book in self._books:
                stack.callback(book.close)


def open_logbook(checkpoints: Path, *, step: int, also: Sequence[str], run_name: str, config: Mapping[str, Any]) -> Logbook:
    """Raises ConfigError when a tool that was asked for is not installed."""
    kinds: dict[str, Callable[[str, Mapping[str, Any]], Book]] = {"mlflow": MLflow, "wandb": WeightsAndBiases}
    return Logbook([TensorBoard(checkpoints, step=step), *(kinds[name](run_name, config) for name in also)])


def scalars(event: StepLogged | EvalLogged | DecodeEvalLogged) -> dict[str, float]:
    """Chart names and values of an event."""
    match event:
        case StepLogged():
            values = {
                "train/loss": event.loss,
                "train/learning_rate": event.learning_rate,
                "train/grad_norm": event.grad_norm,
                "train/tokens_per_s": event.tokens_per_s,
                "train/memory_bytes": float(event.memory_bytes),
            }
            return values | {f"train/acc_{k}": value for k, value in enumerate(event.accuracy)}
        case EvalLogged():
            values = {"eval/loss": event.loss, "eval/simulated_accept_length": event.accept_length}
            values |= {f"eval/acc_{k}": value for k, value in enumerate(event.accuracy)}
            return values | {f"eval/simulated_accept_length/{name}": value for name, value in event.datasets.items()}
        case DecodeEvalLogged():
            values = {"decode/accept_length": event.accept_length}
            return values | {f"decode/accept_length/{name}": value for name, value in event.datasets.items()}


def _imported(name: str) -> Any:  # noqa: ANN401  (a module that need not be installed)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(f"logging to {name} was asked for and the package is not installed: pip install {name}") from error
