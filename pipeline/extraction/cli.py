"""`python -m pipeline extract`."""

import argparse
import asyncio
import sys
from contextlib import closing
from typing import Any

from pipeline.artifacts import AttemptFolder, config_hash, read_json
from pipeline.config import from_mapping
from pipeline.errors import ConfigError, InterruptedRunError, PipelineError
from pipeline.events import StageStarted
from pipeline.extraction.config import ExtractConfig
from pipeline.extraction.flags import add_arguments as add_arguments
from pipeline.extraction.flags import make_attempt
from pipeline.extraction.words import describe, progress_line
from pipeline.stage import FAILED, INTERRUPTED, MISUSED, Stage
from pipeline.terminal import shown


def run(args: argparse.Namespace) -> int:
    """Carry out the attempt of a folder, or a new one that the flags describe; the exit code."""
    try:
        folder = AttemptFolder(args.folder) if args.folder else make_attempt(args)
        values = read_json(folder.config)
    except ConfigError as error:
        return _refuse(str(error), MISUSED)
    except (PipelineError, OSError, ValueError) as error:
        return _refuse(str(error), FAILED if isinstance(error, PipelineError) else MISUSED)
    with shown(describe, progress_line) as view:
        try:
            stage = Stage("extract", folder, control=args.control_stdin, supervisor=args.supervisor_pid)
        except InterruptedRunError as error:
            return _refuse(str(error), INTERRUPTED)
        with closing(stage):
            stage.watchers.append(view)
            return _carry_out(stage, values)


def _carry_out(stage: Stage, values: Any) -> int:  # noqa: ANN401  (what config.json holds)
    try:
        config = from_mapping(ExtractConfig, values, str(stage.folder.config))
    except ConfigError as error:
        # Told as a failure too: whoever reads the events of this attempt sees the reason there.
        stage.emit(StageStarted(stage=stage.name, config_hash=config_hash(values)))
        stage.fail(str(error))
        return MISUSED
    stage.tick("loading torch")
    from pipeline.extraction.flow import Extraction  # noqa: PLC0415  (seconds; what is wrong with a config is told before)

    inputs = {answers.dataset: answers.revision for answers in config.datasets}
    work = Extraction(config, stage).run
    return asyncio.run(stage.carry_out(work, config_hash=config_hash(values), inputs=inputs))


def _refuse(reason: str, code: int) -> int:
    sys.stderr.write(f"error: {reason}\n")
    return code
