"""What the command line of every stage does around its work: an attempt's folder, its config, and exit codes."""

import argparse
import itertools
import sys
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import uvloop

from pipeline.artifacts import AttemptFolder, config_hash, read_json, write_json
from pipeline.config import from_mapping, to_mapping
from pipeline.errors import ConfigError, InterruptedRunError, PipelineError, explained
from pipeline.event import Event
from pipeline.events import StageStarted
from pipeline.stage import FAILED, INTERRUPTED, MISUSED, Outcome, Stage

C = TypeVar("C")


@dataclass(frozen=True, kw_only=True)
class StageCommand(Generic[C]):
    """One stage at a shell or under a supervisor."""

    name: str
    """As the stage calls itself in its first event."""
    config: type[C]
    make_attempt: Callable[[argparse.Namespace], AttemptFolder]
    """Flags → a new attempt's folder with its config.json. Raises ConfigError for flags that do not make a run."""
    inputs: Callable[[C], Mapping[str, str]]
    """What is read, as name → content hash."""
    work: Callable[[C, Stage], Coroutine[Any, Any, Outcome]]
    """The stage's work; called inside a running event loop."""
    view: Callable[[], AbstractContextManager[Callable[[Event], None]]]
    """Sets logging up, and shows events."""

    def run(self, args: argparse.Namespace) -> int:
        """Carry out the attempt of a folder, or a new one that the flags describe; the exit code."""
        try:
            folder = AttemptFolder(args.folder) if args.folder else self.make_attempt(args)
            values = read_json(folder.config)
        except ConfigError as error:
            return refuse(str(error), MISUSED)
        except (PipelineError, OSError, ValueError) as error:
            return refuse(explained(error), FAILED if isinstance(error, PipelineError) else MISUSED)
        with self.view() as show:
            try:
                stage = Stage(self.name, folder, control=args.control_stdin, supervisor=args.supervisor_pid)
            except InterruptedRunError as error:
                return refuse(str(error), INTERRUPTED)
            with closing(stage):
                stage.watchers.append(show)
                return self._carry_out(stage, values)

    def _carry_out(self, stage: Stage, values: Any) -> int:  # noqa: ANN401  (what config.json holds)
        digest = config_hash(values)
        try:
            config = from_mapping(self.config, values, str(stage.folder.config))
        except ConfigError as error:
            # Told as a failure too: whoever reads the events of this attempt sees the reason there.
            stage.emit(StageStarted(stage=stage.name, config_hash=digest))
            stage.fail(str(error))
            return MISUSED
        work = stage.carry_out(lambda: self.work(config, stage), config_hash=digest, inputs=dict(self.inputs(config)))
        return uvloop.run(work)


def add_folder_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, nargs="?", metavar="RUN_FOLDER", help="folder of an attempt, with config.json")


def add_supervision_flags(parser: argparse.ArgumentParser) -> None:
    supervised = parser.add_argument_group("under a supervisor")
    supervised.add_argument("--control-stdin", action="store_true", help="read control messages as JSON lines from stdin")
    supervised.add_argument("--supervisor-pid", type=int, metavar="PID", help="end when this parent process ends")


def new_attempt(out: Path, config: Any) -> AttemptFolder:  # noqa: ANN401  (any config)
    """The next attempt's folder below `out`, with this config. Raises ConfigError for a value that no stage would take."""
    values = to_mapping(from_mapping(type(config), to_mapping(config), "flags"))
    attempts = out / "attempts"
    attempts.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        folder = AttemptFolder(attempts / str(number))
        if not folder.path.exists():
            folder.path.mkdir()
            break
    write_json(folder.config, values)
    return folder


def refuse(reason: str, code: int) -> int:
    sys.stderr.write(f"error: {reason}\n")
    return code
