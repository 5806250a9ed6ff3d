"""`python -m pipeline train`."""

import argparse
import os

from pipeline.artifacts import read_json
from pipeline.config import from_mapping
from pipeline.errors import ConfigError, PipelineError, explained
from pipeline.stage import FAILED, FINISHED, INTERRUPTED, MISUSED, Outcome, Stage
from pipeline.stage_cli import StageCommand, refuse
from pipeline.terminal import shown
from pipeline.training.config import TrainConfig
from pipeline.training.flags import add_arguments as add_arguments
from pipeline.training.flags import config_of, make_attempt
from pipeline.training.peers import follow_stage, peers
from pipeline.training.words import describe, progress_line


def run(args: argparse.Namespace) -> int:
    """Carry out the attempt of a folder, or a new one that the flags describe; the exit code."""
    # OpenMP's threads wait without spinning, which must be said before torch loads: others may use these cores too.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    args.folder = args.folder or args.run_folder
    if int(os.environ.get("RANK", "0")):
        return _train_along(args)
    command = StageCommand(
        name="train",
        config=TrainConfig,
        make_attempt=make_attempt,
        inputs=lambda config: {answers.dataset: answers.revision for answers in config.datasets},
        work=_train,
        view=lambda: shown(describe, progress_line),
    )
    return command.run(args)


async def _train(config: TrainConfig, stage: Stage) -> Outcome:
    from pipeline.training.work import train_first  # noqa: PLC0415  (torch takes seconds to load: the first line does not wait)

    with peers(stage.folder.path, len(config.devices)):
        return train_first(config, stage)


def _train_along(args: argparse.Namespace) -> int:
    """The part of a process that is not the first one."""
    from pipeline.training.work import train_along  # noqa: PLC0415  (as above)

    folder = args.folder
    try:
        follow_stage()
        config = from_mapping(TrainConfig, read_json(folder / "config.json"), str(folder)) if folder else config_of(args)
        return FINISHED if train_along(config).interrupted is None else INTERRUPTED
    except (PipelineError, OSError, ValueError) as error:
        return refuse(explained(error), MISUSED if isinstance(error, ConfigError) else FAILED)
