"""A JSON list of rows, cut into its elements without ever holding the whole of it.

Only quotes, brackets and commas decide the cuts, so a broken element is refused alone and the next one is still found.
"""

import io
import re
from collections.abc import Iterator

from pipeline.datasets.containers.compression import DamagedFileError
from pipeline.datasets.containers.rows import MAX_ROW_BYTES, RawRow, parse_row, too_long
from pipeline.datasets.report import RowError

CHUNK_BYTES = 1 << 18
STRUCTURE = re.compile(rb'["{}\[\],]')
STRING_BODY = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)


def read_json_array(stream: io.BufferedReader) -> Iterator[RawRow]:
    """Yield each element's row, with the line where it begins. The stream's first text character is the opening bracket."""
    opening = bytearray()
    while not opening.endswith(b"["):
        opening += stream.read(1)
    # read1 hands out what was decompressed before the place where a packed file is damaged; read would lose it.
    splitter = _Splitter(line=1 + opening.count(b"\n"))
    try:
        while not splitter.closed and (chunk := stream.read1(CHUNK_BYTES)):
            yield from splitter.feed(chunk)
    except DamagedFileError:
        yield from splitter.whole_last()
        raise
    while not splitter.after.strip() and (chunk := stream.read1(CHUNK_BYTES)):
        splitter.after = chunk
    yield from splitter.finish()


class _Splitter:
    """Where the reading stands between two chunks: how deep, inside a string or not, and the element's bytes so far."""

    def __init__(self, *, line: int) -> None:
        self.closed = False
        self.after = b""
        """What follows the closing bracket."""
        self._line = line
        self._index = 0
        self._depth = 0
        self._in_string = False
        self._carry = b""
        self._parts: list[bytes] = []
        self._size = 0
        self._newlines = 0

    def feed(self, chunk: bytes) -> Iterator[RawRow]:
        """Yield the rows whose elements end in this chunk."""
        data, self._carry = self._carry + chunk, b""
        start = 0
        while not self.closed and (cut := self._next_cut(data, start)) is not None:
            self._keep(data[start:cut])
            start = cut + 1
            yield from self._take()
        if self.closed:
            self.after = data[start:]
        else:
            self._keep(data[start : len(data) - len(self._carry)])

    def whole_last(self) -> Iterator[RawRow]:
        """Yield the last element of a list that breaks off, where its brackets are closed: only its comma is missing."""
        if not self._depth and not self._in_string and b"".join(self._parts).rstrip().endswith((b"}", b"]")):
            yield from self._take()

    def finish(self) -> Iterator[RawRow]:
        """Yield what is wrong with the end of the file, if anything."""
        if not self.closed:
            yield from self.whole_last()
            yield RawRow(index=self._index, line=self._line, error=RowError("the file ends inside the list"))
        elif self.after.strip():
            yield RawRow(index=self._index, line=self._line, error=RowError("text after the end of the list"))

    def _next_cut(self, data: bytes, pos: int) -> int | None:
        """Position of the comma or bracket that ends the element; None when the data ends first."""
        while True:
            if self._in_string:
                body = STRING_BODY.match(data, pos)
                pos = body.end() if body else pos
                if data[pos : pos + 1] != b'"':
                    self._carry = data[pos:]  # nothing, or the backslash of an escape that the next chunk completes
                    return None
                self._in_string = False
                pos += 1
            found = STRUCTURE.search(data, pos)
            if found is None:
                return None
            pos = found.end()
            match found[0]:
                case b'"':
                    self._in_string = True
                case b"[" | b"{":
                    self._depth += 1
                case b"," if self._depth == 0:
                    return found.start()
                case b"]" if self._depth == 0:
                    self.closed = True
                    return found.start()
                case b"]" | b"}" if self._depth:
                    self._depth -= 1

    def _keep(self, piece: bytes) -> None:
        if not self._size:  # white space before the element belongs to none
            text = piece.lstrip()
            self._line += piece.count(b"\n", 0, len(piece) - len(text))
            piece = text
        self._size += len(piece)
        self._newlines += piece.count(b"\n")
        if self._size <= MAX_ROW_BYTES:
            self._parts.append(piece)
        else:
            self._parts.clear()

    def _take(self) -> Iterator[RawRow]:
        """Yield the finished element's row and begin the next. Nothing before the closing bracket is no row."""
        text, line, size = b"".join(self._parts), self._line, self._size
        self._line += self._newlines
        self._parts, self._size, self._newlines = [], 0, 0
        if size or not self.closed:
            yield self._row(text, line) if size <= MAX_ROW_BYTES else RawRow(index=self._index, line=line, error=too_long())
            self._index += 1

    def _row(self, text: bytes, line: int) -> RawRow:
        try:
            return RawRow(index=self._index, line=line, value=parse_row(text))
        except RowError as error:
            return RawRow(index=self._index, line=line, error=error)
