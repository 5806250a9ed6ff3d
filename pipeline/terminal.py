"""A stage for people at a shell: log lines scroll by, and below them stands how far it is.

In a log file nothing can stand: progress comes as a line now and then.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from pipeline.event import Event
from pipeline.logs import LineFormatter, log_to

LINE_EVERY_S = 10.0
log = logging.getLogger("pipeline.stage")

Describe = Callable[[Event], tuple[int, str] | None]
"""Log level and one sentence; None for what is not worth a line of its own."""
Progress = Callable[[Event], str]
"""One line that says how far it is; empty for other events."""
View = Callable[[Event], None]


@contextmanager
def shown(describe: Describe, progress: Progress) -> Iterator[View]:
    """Set up logging, and a view of events that suits where standard error goes."""
    console = Console(stderr=True)
    if not console.is_terminal:
        log_to(sys.stderr)
        yield _LogView(describe, progress).show
        return
    log_above(console)
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show(event: Event) -> None:
            if line := progress(event):
                live.update(Text(line), refresh=True)
            elif described := describe(event):
                log.log(described[0], "%s", described[1])

        yield show


def log_above(console: Console) -> None:
    """Send log lines through the console, which keeps what stands below them."""
    logging.basicConfig(level=logging.INFO, handlers=[_ConsoleHandler(console)], force=True)


class _LogView:
    def __init__(self, describe: Describe, progress: Progress) -> None:
        self._describe = describe
        self._progress = progress
        self._told = 0.0

    def show(self, event: Event) -> None:
        if line := self._progress(event):
            now = time.monotonic()
            if now - self._told >= LINE_EVERY_S:
                self._told = now
                log.info("%s", line)
        elif described := self._describe(event):
            log.log(described[0], "%s", described[1])


class _ConsoleHandler(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__()
        self.setFormatter(LineFormatter())
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.print(Text(self.format(record)), soft_wrap=True)
