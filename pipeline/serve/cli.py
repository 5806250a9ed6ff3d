"""`python -m pipeline serve`."""

import argparse

from pipeline.serve.config import ServeConfig
from pipeline.serve.flags import add_arguments as add_arguments
from pipeline.serve.flags import make_attempt
from pipeline.serve.flow import Serving
from pipeline.serve.words import describe, progress_line
from pipeline.stage import Outcome, Stage
from pipeline.stage_cli import StageCommand
from pipeline.terminal import shown


def run(args: argparse.Namespace) -> int:
    """Serve as the attempt of a folder says, or the flags; the exit code once somebody asked for the end."""
    command = StageCommand(
        name="serve",
        config=ServeConfig,
        make_attempt=make_attempt,
        inputs=lambda config: {"target": config.target} | ({"drafter": config.drafter} if config.drafter else {}),
        work=_serve,
        view=lambda: shown(describe, progress_line),
    )
    return command.run(args)


async def _serve(config: ServeConfig, stage: Stage) -> Outcome:
    return await Serving(config, stage).run()
