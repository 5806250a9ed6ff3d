"""JSON Lines: one row a line; blank lines do not count as rows."""

import io
from collections.abc import Iterator

from pipeline.datasets.containers.rows import MAX_ROW_BYTES, RawRow, parse_row, too_long
from pipeline.datasets.report import RowError

BOM = b"\xef\xbb\xbf"


def read_json_lines(stream: io.BufferedReader) -> Iterator[RawRow]:
    """Yield each line's row. Lines end at LF only (CR before it is white space), so a U+2028 inside a text splits nothing."""
    index = 0
    for number, line in enumerate(_lines(stream), start=1):
        if line is None:
            yield RawRow(index=index, line=number, error=too_long())
        elif raw := (line.removeprefix(BOM) if number == 1 else line).strip():
            yield _row(raw, index, number, finished=line.endswith(b"\n"))
        else:
            continue
        index += 1


def _row(raw: bytes, index: int, number: int, *, finished: bool) -> RawRow:
    try:
        return RawRow(index=index, line=number, value=parse_row(raw))
    except RowError as error:
        if not finished:
            error = RowError("the last line is cut off", str(error))
        return RawRow(index=index, line=number, error=error)


def _lines(stream: io.BufferedReader) -> Iterator[bytes | None]:
    """Each line with its end; None for one that is too long to hold."""
    while line := stream.readline(MAX_ROW_BYTES + 2):
        if len(line) <= MAX_ROW_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while (rest := stream.readline(1 << 20)) and not rest.endswith(b"\n"):
            pass
        yield None
