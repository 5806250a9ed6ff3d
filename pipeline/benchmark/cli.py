"""`python -m pipeline benchmark`."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from pipeline.artifacts import read_json
from pipeline.benchmark.config import BenchmarkConfig
from pipeline.benchmark.flags import add_arguments as add_arguments
from pipeline.benchmark.flags import make_attempt
from pipeline.benchmark.table import print_summary
from pipeline.benchmark.words import describe
from pipeline.event import Event
from pipeline.stage import Outcome, Stage
from pipeline.stage_cli import StageCommand
from pipeline.terminal import shown

TABLE_COLUMNS = 140
"""Width of the table in a log file."""


def run(args: argparse.Namespace) -> int:
    """Carry out the attempt of a folder, or a new one that the flags describe; the exit code. The result is printed."""
    results: list[Path] = []

    async def work(config: BenchmarkConfig, stage: Stage) -> Outcome:
        stage.tick("loading torch")
        from pipeline.benchmark.flow import BenchmarkFlow  # noqa: PLC0415  (seconds; a wrong config is told before)

        outcome = await BenchmarkFlow(config, stage).run()
        if outcome.summary.get("verdict"):
            results.append(Path(config.output) / "summary.json")
        return outcome

    command = StageCommand(
        name="benchmark",
        config=BenchmarkConfig,
        make_attempt=make_attempt,
        inputs=lambda config: {plan.dataset: plan.revision for plan in config.prompts},
        work=work,
        view=lambda: shown(describe, _no_progress),
    )
    code = command.run(args)
    for path in results:
        _print(read_json(path), as_json=args.json)
    return code


def _print(summary: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(summary, indent=1) + "\n")
    else:
        console = Console()
        print_summary(summary, console if console.is_terminal else Console(width=TABLE_COLUMNS))


def _no_progress(_event: Event) -> str:
    """Each pass is worth a line of its own."""
    return ""
