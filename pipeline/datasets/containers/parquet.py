"""Parquet: rows in batches, page by page."""

import io
import shutil
import tempfile
from collections.abc import Iterator
from typing import BinaryIO

from pipeline.datasets.containers.compression import DamagedFileError, Progress
from pipeline.datasets.containers.rows import RawRow

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
        for batch in source.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
            for value in batch.to_pylist():
                yield RawRow(index=index, line=None, value=value)
                index += 1
            if progress is not None:
                progress(size * index // rows, size)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise DamagedFileError(f"not a readable Parquet file: {error}") from error


def spool(stream: io.BufferedReader) -> BinaryIO:
    """A seekable copy of a decompressed stream, on disk: Parquet is read from its end."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  (the caller closes it)
    shutil.copyfileobj(stream, file, 1 << 20)
    file.seek(0)
    return file
