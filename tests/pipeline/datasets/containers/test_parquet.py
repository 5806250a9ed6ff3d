from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from pipeline.datasets.containers import compression
from pipeline.datasets.containers.compression import DamagedFileError
from pipeline.datasets.containers.parquet import read_parquet


def write(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    parquet.write_table(pa.Table.from_pylist(rows), path, **options)
    return path


def test_rows_come_in_order_with_nested_values(tmp_path: Path) -> None:
    rows = [{"id": i, "messages": [{"role": "user", "content": f"prompt {i}"}]} for i in range(200)]
    with write(tmp_path / "a.parquet", rows, row_group_size=70).open("rb") as file:
        found = list(read_parquet(file))
    assert [row.value for row in found] == rows
    assert [row.index for row in found] == list(range(200))
    assert {row.line for row in found} == {None}


def test_progress_is_told_in_bytes_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", [{"prompt": f"{i}"} for i in range(200)])
    seen: list[tuple[int, int]] = []
    with path.open("rb") as file:
        list(read_parquet(file, lambda done, total: seen.append((done, total))))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_file_that_is_cut_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", [{"prompt": "hi"}])
    path.write_bytes(path.read_bytes()[:-20])
    with path.open("rb") as file, pytest.raises(DamagedFileError, match="not a readable Parquet file"):
        list(read_parquet(file))


@pytest.mark.parametrize("dictionary", [True, False])
def test_a_bomb_is_refused_whether_pages_or_equal_rows_swell(
    tmp_path: Path, dictionary: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "EXPANDED_ANYWAY", 1 << 20)
    rows = [{"prompt": "x" * 1000}] * 20_000
    path = write(tmp_path / "bomb.parquet", rows, compression="zstd", use_dictionary=dictionary)
    assert path.stat().st_size < 40_000
    with path.open("rb") as file, pytest.raises(DamagedFileError, match="unpacks to more than"):
        list(read_parquet(file))


def test_a_row_that_is_too_long_is_refused_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.datasets.containers.parquet.MAX_ROW_BYTES", 1000)
    path = write(tmp_path / "a.parquet", [{"prompt": "short"}, {"prompt": "x" * 5000}, {"prompt": "short too"}])
    with path.open("rb") as file:
        found = list(read_parquet(file))
    assert [row.value and row.value["prompt"] for row in found] == ["short", None, "short too"]
    assert "row is longer than" in str(found[1].error)


def test_categoricals_count_as_the_one_value_that_a_row_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.datasets.containers.parquet.MAX_ROW_BYTES", 1000)
    monkeypatch.setattr(compression, "EXPANDED_ANYWAY", 1 << 20)
    prompts = [f"{i:05} {'x' * 500}" for i in range(300)] + [None, "x" * 5000]
    table = pa.table({"n": range(302), "prompt": pa.array(prompts).dictionary_encode()})
    parquet.write_table(table, tmp_path / "a.parquet", compression="zstd")
    with (tmp_path / "a.parquet").open("rb") as file:
        found = list(read_parquet(file))
    assert [row.value for row in found[:301]] == table.slice(0, 301).to_pylist()
    assert "row is longer than" in str(found[301].error)
