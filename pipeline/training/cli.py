"""`python -m pipeline train`."""

import argparse
import asyncio
import os
import sys
from contextlib import closing
from typing import Any

from pipeline.artifacts import AttemptFolder, config_hash, read_json
from pipeline.config import from_mapping
from pipeline.errors import ConfigError, InterruptedRunError, PipelineError
from pipeline.events import StageStarted
from pipeline.stage import FAILED, FINISHED, INTERRUPTED, MISUSED, Outcome, Stage
from pipeline.terminal import shown
from pipeline.training.config import TrainConfig
from pipeline.training.flags import add_arguments as add_arguments
from pipeline.training.flags import config_of, make_attempt
from pipeline.training.words import describe, progress_line


def run(args: argparse.Namespace) -> int:
    """Carry out the attempt of a folder, or a new one that the flags describe; the exit code."""
    # OpenMP's threads wait without spinning, which must be said before torch loads: others may use these cores too.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    given = args.folder or args.run_folder
    if int(os.environ.get("RANK", "0")):
        return _train_along(args)
    try:
        folder = AttemptFolder(given) if given else make_attempt(args)
        values = read_json(folder.config)
    except ConfigError as error:
        return _refuse(str(error), MISUSED)
    except (PipelineError, OSError, ValueError) as error:
        return _refuse(str(error), FAILED if isinstance(error, PipelineError) else MISUSED)
    with shown(describe, progress_line) as view:
        try:
            stage = Stage("train", folder, control=args.control_stdin, supervisor=args.supervisor_pid)
        except InterruptedRunError as error:
            return _refuse(str(error), INTERRUPTED)
        with closing(stage):
            stage.watchers.append(view)
            return _carry_out(stage, values)


def _carry_out(stage: Stage, values: Any) -> int:  # noqa: ANN401  (what config.json holds)
    try:
        config = from_mapping(TrainConfig, values, str(stage.folder.config))
    except ConfigError as error:
        # Told as a failure too: whoever reads the events of this attempt sees the reason there.
        stage.emit(StageStarted(stage=stage.name, config_hash=config_hash(values)))
        stage.fail(str(error))
        return MISUSED

    async def work() -> Outcome:
        from pipeline.training.work import train_first  # noqa: PLC0415  (torch takes seconds to load: the first line does not wait)

        return train_first(config, stage)

    inputs = {answers.dataset: answers.revision for answers in config.datasets}
    return asyncio.run(stage.carry_out(work, config_hash=config_hash(values), inputs=inputs))


def _train_along(args: argparse.Namespace) -> int:
    """The part of a process that is not torchrun's first."""
    from pipeline.training.work import train_along  # noqa: PLC0415  (as above)

    given = args.folder or args.run_folder
    try:
        config = from_mapping(TrainConfig, read_json(given / "config.json"), str(given)) if given else config_of(args)
        return FINISHED if train_along(config).interrupted is None else INTERRUPTED
    except (PipelineError, OSError, ValueError) as error:
        return _refuse(str(error), MISUSED if isinstance(error, ConfigError) else FAILED)


def _refuse(reason: str, code: int) -> int:
    sys.stderr.write(f"error: {reason}\n")
    return code
