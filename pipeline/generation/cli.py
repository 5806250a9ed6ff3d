"""`python -m pipeline generate`."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline.config import GenerateConfig
from pipeline.event import Event
from pipeline.generation.flags import add_arguments as add_arguments
from pipeline.generation.flags import make_attempt
from pipeline.generation.flow import GenerationFlow
from pipeline.generation.terminal import shown
from pipeline.stage import Outcome, Stage
from pipeline.stage_cli import StageCommand


def run(args: argparse.Namespace) -> int:
    """Carry out the attempt of a folder, or a new one that the flags describe; the exit code."""
    command = StageCommand(
        name="generate",
        config=GenerateConfig,
        make_attempt=make_attempt,
        inputs=lambda config: {plan.slug: plan.revision for plan in config.datasets},
        work=_generate,
        view=_view,
    )
    return command.run(args)


async def _generate(config: GenerateConfig, stage: Stage) -> Outcome:
    return await GenerationFlow(config, stage).run()


@contextmanager
def _view() -> Iterator[Callable[[Event], None]]:
    with shown() as view:
        yield view.show
