"""Finds out what kind of file it is and yields its rows."""

import io
from collections.abc import Iterator
from pathlib import Path, PurePath

from pipeline.datasets.containers import parquet
from pipeline.datasets.containers.compression import DamagedFileError, Progress, open_plain
from pipeline.datasets.containers.jsonarray import read_json_array
from pipeline.datasets.containers.jsonlines import BOM, read_json_lines
from pipeline.datasets.containers.rows import RawRow


def read_rows(path: Path, *, name: str = "", progress: Progress | None = None) -> Iterator[RawRow]:
    """Yield the rows of a JSON Lines, JSON list or Parquet file, plain or compressed.

    `name` is the file's name as its owner knows it, where it lies under another one. Raises DamagedFileError where the
    file breaks off, after the rows before that place; OSError when it cannot be opened.
    """
    with open_plain(path, progress) as stream:
        if stream.peek(4).startswith(parquet.MAGIC):
            yield from _parquet_rows(path, stream, progress)
        elif _is_called_parquet(name or path.name) and not _may_be_json(stream):
            raise DamagedFileError("the file is called .parquet, but it is no Parquet file: it does not begin with PAR1")
        elif _is_list(stream, name or path.name):
            yield from read_json_array(stream)
        else:
            yield from read_json_lines(stream)


def _parquet_rows(path: Path, stream: io.BufferedReader, progress: Progress | None) -> Iterator[RawRow]:
    with path.open("rb") as file:
        if file.read(len(parquet.MAGIC)) == parquet.MAGIC:
            yield from parquet.read_parquet(file, progress)
            return
    with parquet.spool(stream) as copy:
        yield from parquet.read_parquet(copy)


def _is_list(stream: io.BufferedReader, name: str) -> bool:
    """A list of objects, or a `.json` file that begins with a bracket: lines of JSON Lines may be lists too, though useless."""
    head = stream.peek(1).removeprefix(BOM).lstrip()
    if not head.startswith(b"["):
        return False
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    return ".json" in suffixes[-2:] or head[1:].lstrip()[:1] in (b"{", b"]", b"")


def _is_called_parquet(name: str) -> bool:
    return ".parquet" in [suffix.lower() for suffix in PurePath(name).suffixes][-2:]


def _may_be_json(stream: io.BufferedReader) -> bool:
    """Nothing, or something that begins as rows of JSON do: names lie, and content decides."""
    return stream.peek(1).removeprefix(BOM).lstrip()[:1] in (b"", b"{", b"[")
