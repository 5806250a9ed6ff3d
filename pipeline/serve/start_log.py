"""A server's log, passed on to ours as far as people would read it, and what it says of the start."""

import logging
import re
from collections.abc import Callable
from pathlib import Path

from pipeline.event import Event
from pipeline.serve.log_lines import LogReader, Progress, parse_line
from pipeline.server_events import ServerLoading

NOISE = re.compile(r"""(INFO:\s+\S+ - "|(Decode|Prefill) batch|Ignore import error|\s*warnings\.warn\(|\S+: \w*Warning: )""")
"""Beginnings of lines that events say better, or that speak of what is not asked for."""
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
MOMENT = re.compile(r"^\[[0-9]{4}-[0-9-]+ [0-9:]+(?P<rank> [^\]]*)?\] ")
"""Our log has a time of its own; which of several processes speaks is kept."""

log = logging.getLogger("sglang")


class StartLog:
    def __init__(self, path: Path, *, number: int, emit: Callable[[Event], None]) -> None:
        self._reader = LogReader(path)
        self._number = number
        self._emit = emit
        self._told: Progress | None = None

    def pass_on(self) -> Progress | None:
        """Copy what is new; the newest that it says of a start, if it says anything."""
        found = None
        for line in self._reader.lines():
            progress = parse_line(line)
            found = progress or found
            text = readable(line)
            if text.strip() and not NOISE.match(text) and (progress is None or not progress.total):
                log.info("%s", text)
        return found

    def tell(self) -> str:
        """Copy what is new and tell how far the start is; in words too, empty when nothing is new."""
        found = self.pass_on()
        if found is None or found == self._told:
            return ""
        self._told = found
        self._emit(ServerLoading(number=self._number, phase=found.phase, what=found.what, done=found.done, total=found.total))
        return words(found)


def readable(line: str) -> str:
    """Without colours, and without the moment that it begins with."""
    return MOMENT.sub(lambda found: f"[{found['rank'].strip()}] " if found["rank"] else "", COLOUR.sub("", line))


def words(progress: Progress) -> str:
    """`weights: 3 of 12`, `graphs of target decode`."""
    counted = f": {progress.done} of {progress.total}" if progress.total > 1 else ""
    return f"{progress.phase}{f' of {progress.what}' if progress.what else ''}{counted}"
