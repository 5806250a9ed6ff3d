"""`python -m pipeline generate`."""

import argparse
import sys
from contextlib import closing
from typing import Any

import uvloop

from pipeline.artifacts import AttemptFolder, config_hash, read_json
from pipeline.config import GenerateConfig, from_mapping
from pipeline.errors import ConfigError, InterruptedRunError, PipelineError
from pipeline.events import StageStarted
from pipeline.generation.flags import add_arguments as add_arguments
from pipeline.generation.flags import make_attempt
from pipeline.generation.flow import GenerationFlow
from pipeline.generation.terminal import shown
from pipeline.stage import FAILED, INTERRUPTED, MISUSED, Stage


def run(args: argparse.Namespace) -> int:
    """Carry out the attempt of a folder, or a new one that the flags describe; the exit code."""
    try:
        folder = AttemptFolder(args.folder) if args.folder else make_attempt(args)
        values = read_json(folder.config)
    except ConfigError as error:
        return _refuse(str(error), MISUSED)
    except (PipelineError, OSError, ValueError) as error:
        return _refuse(str(error), FAILED if isinstance(error, PipelineError) else MISUSED)
    with shown() as view:
        try:
            stage = Stage("generate", folder, control=args.control_stdin, supervisor=args.supervisor_pid)
        except InterruptedRunError as error:
            return _refuse(str(error), INTERRUPTED)
        with closing(stage):
            stage.watchers.append(view.show)
            return _carry_out(stage, values)


def _carry_out(stage: Stage, values: Any) -> int:  # noqa: ANN401  (what config.json holds)
    try:
        config = from_mapping(GenerateConfig, values, str(stage.folder.config))
    except ConfigError as error:
        # Told as a failure too: whoever reads the events of this attempt sees the reason there.
        stage.emit(StageStarted(stage=stage.name, config_hash=config_hash(values)))
        stage.fail(str(error))
        return MISUSED
    inputs = {plan.slug: plan.revision for plan in config.datasets}
    flow = GenerationFlow(config, stage)
    return uvloop.run(stage.carry_out(flow.run, config_hash=config_hash(values), inputs=inputs))


def _refuse(reason: str, code: int) -> int:
    sys.stderr.write(f"error: {reason}\n")
    return code
