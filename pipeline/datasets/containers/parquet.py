"""Parquet: rows in batches, page by page."""

import io
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from pipeline.datasets.containers.compression import DamagedFileError, Progress, expanded_limit
from pipeline.datasets.containers.rows import MAX_ROW_BYTES, RawRow, too_long

MAGIC = b"PAR1"
BATCH_ROWS = 64


def read_parquet(file: BinaryIO, progress: Progress | None = None) -> Iterator[RawRow]:
    """Yield each row as a mapping of column → value. Raises DamagedFileError for a file that Arrow cannot read."""
    import pyarrow as pa  # noqa: PLC0415  (50 MB that a web process needs only while somebody imports Parquet)
    from pyarrow import parquet  # noqa: PLC0415

    index = 0
    try:
        # Without pre-buffering Arrow holds a few pages of a row group, not the whole group.
        source = parquet.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)
        rows, size = source.metadata.num_rows, file.seek(0, io.SEEK_END)
        _refuse_bomb(source.metadata, size)
        unpacked = 0
        for batch in source.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
            for place in range(len(batch)):
                row = _decoded(batch.slice(place, 1), pa)
                unpacked += row.nbytes
                # A few bytes of a dictionary can stand for any number of equal rows.
                _refuse_more_than(expanded_limit(size), unpacked)
                if row.nbytes > MAX_ROW_BYTES:
                    yield RawRow(index=index, line=None, error=too_long())
                else:
                    yield RawRow(index=index, line=None, value=row.to_pylist()[0])
                index += 1
            if progress is not None:
                progress(size * index // rows, size)
    except (pa.ArrowException, OSError, EOFError, MemoryError) as error:
        raise DamagedFileError(f"not a readable Parquet file: {error}") from error


def _decoded(row: Any, pa: Any) -> Any:  # noqa: ANN401  (pyarrow's RecordBatch and module)
    """One row with its categoricals as values: a slice of them keeps the whole dictionary, and counts it."""
    for place, column in enumerate(row.columns):
        if pa.types.is_dictionary(column.type):
            row = row.set_column(place, row.schema.field(place).name, column.dictionary_decode())
    return row


def _refuse_bomb(metadata: Any, size: int) -> None:  # noqa: ANN401  (pyarrow's FileMetaData)
    """Pages are unpacked in memory, so what the footer promises is judged before the first. Raises DamagedFileError."""
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    _refuse_more_than(expanded_limit(size), sum(group.total_byte_size for group in groups))


def _refuse_more_than(limit: int, unpacked: int) -> None:
    if unpacked > limit:
        raise DamagedFileError(f"the file unpacks to more than {limit:,} bytes, which is too much for its size")


def spool(stream: io.BufferedReader) -> BinaryIO:
    """A seekable copy of a decompressed stream, on disk: Parquet is read from its end."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  (the caller closes it)
    shutil.copyfileobj(stream, file, 1 << 20)
    file.seek(0)
    return file
