"""`python -m pipeline extract`."""

import argparse

from pipeline.extraction.config import ExtractConfig
from pipeline.extraction.flags import add_arguments as add_arguments
from pipeline.extraction.flags import make_attempt
from pipeline.extraction.words import describe, progress_line
from pipeline.stage import Outcome, Stage
from pipeline.stage_cli import StageCommand
from pipeline.terminal import shown


def run(args: argparse.Namespace) -> int:
    """Carry out the attempt of a folder, or a new one that the flags describe; the exit code."""
    command = StageCommand(
        name="extract",
        config=ExtractConfig,
        make_attempt=make_attempt,
        inputs=lambda config: {answers.dataset: answers.revision for answers in config.datasets},
        work=_extract,
        view=lambda: shown(describe, progress_line),
    )
    return command.run(args)


async def _extract(config: ExtractConfig, stage: Stage) -> Outcome:
    stage.tick("loading torch")
    from pipeline.extraction.flow import Extraction  # noqa: PLC0415  (seconds; what is wrong with a config is told before)

    return await Extraction(config, stage).run()
