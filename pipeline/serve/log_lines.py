"""What a server's log says of its start. It is written for people and changes between versions: the rest is passed over."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

READ_BYTES = 256 * 1024
"""At once; a log that grows faster is caught up with."""
LINE_BYTES = 16 * 1024
"""Of a line that does not end; what is longer is cut off."""
_SHARDS = re.compile(r"(?P<what>[^\r\n]{0,200}?):\s+\d{1,3}% Completed \| (?P<done>\d{1,9})/(?P<total>\d{1,9})")
_GRAPHS = re.compile(r"Capturing batches .{0,200}?\s(?P<done>\d{1,9})/(?P<total>\d{1,9}) \[")
_CAPTURE = re.compile(r"Capture (?P<what>.{1,60}?)(?: (?:CUDA|CPU|NPU|XPU) graph| cuda graph)? (?P<end>begin|end)")
_WEIGHTS = re.compile(r"Load weight end\..{0,200}?type=(?P<what>\w{1,100})")


@dataclass(frozen=True)
class Progress:
    """As in ServerLoading."""

    phase: str
    what: str = ""
    done: int = 0
    total: int = 0


def parse_line(line: str) -> Progress | None:
    """What one line says of the start; None for most of them."""
    if match := _SHARDS.search(line):
        return Progress("weights", "", int(match["done"]), int(match["total"]))
    if match := _GRAPHS.search(line):
        return Progress("graphs", "", int(match["done"]), int(match["total"]))
    if match := _CAPTURE.search(line):
        return Progress("graphs", match["what"].strip(), 0 if match["end"] == "begin" else 1, 1)
    if match := _WEIGHTS.search(line):
        return Progress("weights", match["what"], 1, 1)
    if "Load weight begin" in line:
        return Progress("weights")
    if "KV Cache is allocated" in line or "Memory pool end" in line:
        return Progress("memory", "KV cache")
    if "Application startup complete" in line or "fired up and ready to roll" in line:
        return Progress("warming up")
    return None


class LogReader:
    """Follows a log that grows; progress bars end their lines with a carriage return."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""

    def lines(self) -> Iterator[str]:
        """What is new, up to the last line that has ended, and a bounded part of one that has not."""
        with self._path.open("rb") as file:
            file.seek(self._offset)
            block = file.read(READ_BYTES)
        self._offset += len(block)
        *lines, self._rest = re.split(rb"[\r\n]+", self._rest + block)
        self._rest = self._rest[-LINE_BYTES:]
        for line in lines:
            yield line[:LINE_BYTES].decode(errors="replace")

    def progress(self) -> Progress | None:
        """The newest that is new; None when nothing was said of the start."""
        found = None
        for line in self.lines():
            found = parse_line(line) or found
        return found
