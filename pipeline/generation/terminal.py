"""A run for people at a shell: log lines scroll by, and one block below them shows where each dataset stands.

In a log file there is no block: progress comes as a line a dataset, now and then.
"""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from pipeline.event import Event
from pipeline.events import DatasetFinished, GenerationProgress
from pipeline.generation.words import describe, progress_line
from pipeline.logs import log_to
from pipeline.terminal import LINE_EVERY_S, log_above

log = logging.getLogger("pipeline.generation")


class LogView:
    """Events as log lines."""

    def __init__(self) -> None:
        self._told: dict[str, float] = {}

    def show(self, event: Event) -> None:
        if isinstance(event, GenerationProgress):
            now = time.monotonic()
            if now - self._told.get(event.dataset, now - LINE_EVERY_S) >= LINE_EVERY_S:
                self._told[event.dataset] = now
                log.info("%s", progress_line(event))
        elif described := describe(event):
            log.log(described[0], "%s", described[1])


class BlockView:
    """Events as log lines above a block with one line for each dataset that moves."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._lines: dict[str, str] = {}

    def show(self, event: Event) -> None:
        if isinstance(event, GenerationProgress):
            self._lines[event.dataset] = progress_line(event)
        else:
            if isinstance(event, DatasetFinished):
                self._lines.pop(event.dataset, None)
            if described := describe(event):
                log.log(described[0], "%s", described[1])
        self._live.update(Text("\n".join(self._lines.values())), refresh=True)


@contextmanager
def shown() -> Iterator[LogView | BlockView]:
    """Set up logging, and a view of events that suits where standard error goes."""
    console = Console(stderr=True)
    if not console.is_terminal:
        log_to(sys.stderr)
        yield LogView()
        return
    log_above(console)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield BlockView(live)
