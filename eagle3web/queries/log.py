"""An attempt's log, line by line, from the chunks that the supervisor stored.

A line goes to a browser as `[text, bytes left out]`: at most LINE_LIMIT characters, with signs for what cannot be seen.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from eagle3web.models import LogChunk
from eagle3web.text import LINE_LIMIT, visible

Line = tuple[int, tuple[str, int]]
"""Number from 1, and what a browser shows: text, and how many bytes of it were left out."""

BATCH = 5000
"""Lines of one read; more of them come with the next one."""
SEARCHED = 64 * 1024**2
"""Bytes at the end of a log that a search goes through."""
_KEPT = 4 * LINE_LIMIT
"""Bytes of a line that are kept: a character has four at most."""


def shown(raw: bytes, left_out: int = 0) -> tuple[str, int]:
    """One line as a browser gets it. `left_out` counts bytes that were dropped before."""
    text = raw.rstrip(b"\r").decode(errors="backslashreplace")
    if len(text) <= LINE_LIMIT and not left_out:
        return visible(text), 0
    cut = text[:LINE_LIMIT]
    return visible(cut), left_out + len(raw) - len(cut.encode(errors="replace"))


@dataclass
class LogReader:
    """Reads on from a place in the log; ask again for what has been stored since."""

    attempt_id: int
    offset: int = 0
    """Bytes that were read."""
    number: int = 0
    """Number of the last finished line."""
    _open: bytes = b""
    _left_out: int = 0
    _inside: bool = False
    """The place is inside a line whose start was not read; it ends at the next line end."""

    @classmethod
    def after_line(cls, attempt_id: int, number: int) -> "LogReader":
        """A reader whose next lines are those after `number`, or a few earlier ones. Costs two queries."""
        chunks = LogChunk.objects.filter(attempt=attempt_id)
        found = chunks.filter(first_line__lte=number + 1).order_by("-first_line", "offset").first()
        if found is None:
            return cls(attempt_id)
        before = chunks.filter(offset__lt=found.offset).order_by("-offset").first()
        inside = before is not None and not bytes(before.data).endswith(b"\n")
        return cls(attempt_id, offset=found.offset, number=found.first_line - 1, _inside=inside)

    @classmethod
    def last_lines(cls, attempt_id: int, count: int) -> "LogReader":
        """A reader whose next lines are about the last `count`. Costs three queries."""
        return cls.after_line(attempt_id, max(0, last_line(attempt_id) - count))

    def read(self, limit: int = BATCH) -> list[Line]:
        """Finished lines that were not read yet, at least `limit` of them if there are so many. Costs one query."""
        lines: list[Line] = []
        chunks = LogChunk.objects.filter(attempt=self.attempt_id, offset__gte=self.offset).order_by("offset")
        for offset, data in chunks.values_list("offset", "data").iterator(chunk_size=20):
            self.offset = offset + len(data)
            lines += self._split(bytes(data))
            if len(lines) >= limit:
                break
        return lines

    @property
    def unfinished(self) -> tuple[str, int]:
        """What stands after the last line end: a process that wrote `Loading…` and no more is not silent."""
        return shown(self._open, self._left_out)

    def _split(self, data: bytes) -> Iterator[Line]:
        *ended, rest = data.split(b"\n")
        for part in ended:
            if self._inside:
                self._inside = False
            else:
                self._keep(part)
                self.number += 1
                yield self.number, shown(self._open, self._left_out)
            self._open, self._left_out = b"", 0
        if not self._inside:
            self._keep(rest)

    def _keep(self, part: bytes) -> None:
        room = max(0, _KEPT - len(self._open))
        self._open += part[:room]
        self._left_out += max(0, len(part) - room)


def last_line(attempt_id: int) -> int:
    """Number of the last finished line; 0 for an empty log. Costs one query."""
    newest = LogChunk.objects.filter(attempt=attempt_id).order_by("-offset").first()
    if newest is None:
        return 0
    # A chunk that begins inside a line has that line before its first one, finished or not.
    ends = bytes(newest.data).count(b"\n")
    inside = newest.offset > 0 and not _ends_with_newline(attempt_id, newest.offset)
    return newest.first_line - 1 + ends - (1 if inside else 0)


def window(attempt_id: int, *, after: int, count: int) -> list[Line]:
    """`count` lines after number `after`."""
    reader = LogReader.after_line(attempt_id, after)
    found: list[Line] = []
    while len(found) < count and (lines := reader.read(count)):
        found += [line for line in lines if line[0] > after]
    return found[:count]


def search(attempt_id: int, needle: str, *, limit: int) -> tuple[list[Line], int]:
    """The last `limit` lines that hold `needle`, whatever its case, and how many lines do; in the last SEARCHED bytes."""
    reader = LogReader(attempt_id)
    newest = LogChunk.objects.filter(attempt=attempt_id).order_by("-offset").values_list("offset", flat=True).first() or 0
    if newest > SEARCHED:
        first = LogChunk.objects.filter(attempt=attempt_id, offset__gte=newest - SEARCHED).earliest("offset")
        reader = LogReader.after_line(attempt_id, first.first_line)
    wanted = needle.casefold()
    found: deque[Line] = deque(maxlen=limit)
    total = 0
    while lines := reader.read():
        for line in lines:
            if wanted in line[1][0].casefold():
                found.append(line)
                total += 1
    return list(found), total


def _ends_with_newline(attempt_id: int, offset: int) -> bool:
    before = LogChunk.objects.filter(attempt=attempt_id, offset__lt=offset).order_by("-offset").first()
    return before is None or bytes(before.data).endswith(b"\n")
