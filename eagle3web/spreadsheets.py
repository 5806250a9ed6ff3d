"""CSV that a spreadsheet opens without running anything that somebody typed into a name."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

PIECE = 500
"""Lines that are sent together."""

FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n")
"""What a cell must not begin with (full-width signs too).

A spreadsheet would take it for a formula, or cut it off and then take the rest for one.
"""


class _Line:
    """What csv.writer writes to: hands each line back."""

    def write(self, text: str) -> str:
        return text


def safe(value: object) -> object:
    """The cell, with an apostrophe before text that would be a formula; numbers stay numbers."""
    if isinstance(value, str) and value.startswith(FORMULAS):
        return f"'{value}"
    return value


def lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """CSV, a line at a time, to be streamed."""
    writer = csv.writer(_Line())
    for row in rows:
        line: str = writer.writerow([safe(value) for value in row])
        yield line


def file(fields: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    """A whole file in pieces, with a header line."""
    written = lines(chain([fields], rows))
    while piece := "".join(islice(written, PIECE)):
        yield piece.encode()
