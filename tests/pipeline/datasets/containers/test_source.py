import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import zstandard
from pyarrow import parquet

from pipeline.datasets.containers.compression import DamagedFileError
from pipeline.datasets.containers.source import read_rows

ROWS = [{"id": "a", "prompt": "first"}, {"id": "b", "prompt": "second [x], {y}"}]


def values(path: Path, **options: Any) -> list[Any]:
    return [row.error.reason if row.error else row.value for row in read_rows(path, **options)]


def content(container: str, folder: Path) -> bytes:
    if container == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    if container == "json":
        return json.dumps(ROWS, indent=2).encode()
    parquet.write_table(pa.Table.from_pylist(ROWS), folder / "table")
    return (folder / "table").read_bytes()


@pytest.mark.parametrize("name", ["prompts", "prompts.jsonl", "prompts.json.gz", "prompts.parquet"])
@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd"])
@pytest.mark.parametrize("container", ["jsonl", "json", "parquet"])
def test_every_container_is_read_in_every_packing_under_any_name(
    tmp_path: Path, container: str, packing: str, name: str
) -> None:
    raw = content(container, tmp_path)
    packed = {"plain": raw, "gzip": gzip.compress(raw), "zstd": zstandard.ZstdCompressor().compress(raw)}
    path = tmp_path / name
    path.write_bytes(packed[packing])
    assert values(path) == ROWS


def test_a_list_of_texts_is_a_list_only_in_a_json_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('["not", "an object"]\n{"prompt": "hi"}\n')
    assert values(path) == [["not", "an object"], {"prompt": "hi"}]
    path.write_text('["a", "b"]')
    assert values(path, name="a.json") == ["a", "b"]


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        values(tmp_path)


@pytest.mark.parametrize("raw", [b"PAR0\x15\x04", b"id,prompt\n1,hello\n", b"\x89PNG\r\n", b"\x00" * 100])
@pytest.mark.parametrize("packing", ["plain", "gzip"])
def test_other_bytes_that_are_called_parquet_are_named_as_such(tmp_path: Path, raw: bytes, packing: str) -> None:
    path = tmp_path / ("prompts.parquet.gz" if packing == "gzip" else "prompts.parquet")
    path.write_bytes(gzip.compress(raw) if packing == "gzip" else raw)
    with pytest.raises(DamagedFileError, match="but it is no Parquet file"):
        values(path)


def test_whole_rows_of_a_torn_and_packed_list_are_kept(tmp_path: Path) -> None:
    packer = zlib.compressobj(wbits=31)
    path = tmp_path / "prompts.json.gz"
    path.write_bytes(packer.compress(json.dumps(ROWS)[:-1].encode()) + packer.flush(zlib.Z_SYNC_FLUSH))
    rows = read_rows(path)
    assert [next(rows).value for _ in ROWS] == ROWS
    with pytest.raises(DamagedFileError, match="cut or damaged"):
        next(rows)
