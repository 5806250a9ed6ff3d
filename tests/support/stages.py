"""Stages run in this process, over folders of their own."""

import asyncio
from contextlib import closing
from pathlib import Path

from pipeline.artifacts import AttemptFolder
from pipeline.events import Line, read_events
from pipeline.extraction.config import ExtractConfig
from pipeline.extraction.flow import Extraction
from pipeline.stage import Stage


def run_extraction(root: Path, config: ExtractConfig, *, code: int = 0) -> list[Line]:
    """One attempt at an extraction, which must end with this exit code; its events."""
    number = len(list((root / "attempts").glob("*"))) + 1
    folder = AttemptFolder(root / "attempts" / str(number))
    folder.path.mkdir(parents=True)
    with closing(Stage("extract", folder)) as stage:
        ended = asyncio.run(stage.carry_out(Extraction(config, stage).run, config_hash="0" * 8, inputs={}))
    lines = [line for line, _ in read_events(folder.events)]
    assert ended == code, lines[-1]
    return lines
