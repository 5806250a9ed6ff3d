"""Plain bytes out of a file that may be gzip or Zstandard: told by its first bytes, since names lie."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

import zstandard

from pipeline.errors import DataError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Progress = Callable[[int, int], None]
"""Called with bytes read and bytes in all, of the file on disk."""

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
BUFFER_BYTES = 1 << 18
EXPANDED_ANYWAY = 1 << 30
"""Bytes that any file may unpack to."""
EXPANDED_TIMES = 200
"""Above that, so many times its own size at most: text of prompts packs ten- to thirtyfold, a bomb a thousandfold or more."""
EXPANDED_MOST = 64 << 30
"""Bytes, whatever its size."""


class DamagedFileError(DataError):
    """Compressed data is cut, damaged or a bomb; what was decompressed before is good."""


def expanded_limit(size: int) -> int:
    """Bytes that a packed file of `size` bytes may unpack to."""
    return min(EXPANDED_MOST, max(EXPANDED_ANYWAY, EXPANDED_TIMES * size))


@contextmanager
def open_plain(path: Path, progress: Progress | None = None) -> Iterator[io.BufferedReader]:
    """Open for reading, decompressed on the way. Reading raises DamagedFileError where compressed data breaks off."""
    total = path.stat().st_size
    with path.open("rb", buffering=0) as file:
        counted: io.BufferedReader = io.BufferedReader(_Counted(file, total, progress), BUFFER_BYTES)
        head = counted.peek(4)
        if head.startswith(GZIP_MAGIC):
            with gzip.GzipFile(fileobj=counted) as plain, closing(_reader(_GzipSource(plain), expanded_limit(total))) as stream:
                yield stream
        elif head.startswith(ZSTD_MAGIC):
            with closing(_reader(_ZstdSource(counted), expanded_limit(total))) as stream:
                yield stream
        else:
            with counted:
                yield counted


class _Source(Protocol):
    def read_some(self, size: int) -> bytes:
        """At least one byte, or none at the end."""


class _GzipSource:
    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file

    def read_some(self, size: int) -> bytes:
        return self._file.read1(size)


class _ZstdSource:
    """Frame after frame, each checked for its end: the library's own stream reader ends quietly on a cut file."""

    # Zstandard turns 4 bytes into 128 KiB at best: a larger step could fill the memory from a small file.
    STEP_BYTES = 1024

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decompressor = zstandard.ZstdDecompressor()
        self._frame = self._decompressor.decompressobj()
        self._inside = False
        self._ready = memoryview(b"")
        self._rest = b""

    def read_some(self, size: int) -> bytes:
        while not self._ready and self._feed():
            pass
        piece, self._ready = self._ready[:size], self._ready[size:]
        return bytes(piece)

    def _feed(self) -> bool:
        piece = self._rest or self._file.read(self.STEP_BYTES)
        self._rest = b""
        if not piece:
            if self._inside:
                raise EOFError("the last frame is not complete")
            return False
        self._ready = memoryview(self._frame.decompress(piece))
        self._inside = not self._frame.eof
        if self._frame.eof:
            self._rest = self._frame.unused_data
            self._frame = self._decompressor.decompressobj()
        return True


class _Decompressed(io.RawIOBase):
    """A raw stream over a source, with one error for all the ways in which compressed data can be broken."""

    def __init__(self, source: _Source, limit: int) -> None:
        self._source, self._limit, self._left = source, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        try:
            piece = self._source.read_some(len(view))
        except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
            raise DamagedFileError(f"compressed data is cut or damaged: {error}") from error
        self._left -= len(piece)
        if self._left < 0:
            raise DamagedFileError(f"the file unpacks to more than {self._limit:,} bytes, which is too much for its size")
        view[: len(piece)] = piece
        return len(piece)


class _Counted(io.RawIOBase):
    """The file on disk, telling how far it has been read."""

    def __init__(self, file: io.FileIO, total: int, progress: Progress | None) -> None:
        self._file, self._total, self._progress = file, total, progress
        self._done = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        count = self._file.readinto(buffer) or 0
        self._done += count
        if self._progress is not None:
            self._progress(self._done, self._total)
        return count


def _reader(source: _Source, limit: int) -> io.BufferedReader:
    return io.BufferedReader(_Decompressed(source, limit), BUFFER_BYTES)
