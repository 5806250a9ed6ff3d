"""What is not the manifest of a backup is refused by name, whatever it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from eagle3web.domain.backup_files import Content
from eagle3web.domain.backup_manifest import Manifest, read_manifest
from pipeline.errors import DataError

WHOLE = Manifest("2026-01-01T00:00:00+00:00", "/home", "sqlite", {"a": 1}, 1, {"runs/1": Content(1, "ab")}, Content(2, "cd"))
OLD: dict[str, Any] = {"made_at": "2026", "home": "/home", "database": "sqlite", "rows": {"a": 1}, "files": 7}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    WHOLE.write(tmp_path)
    assert read_manifest(tmp_path) == WHOLE


def test_manifest_without_a_record_of_files_is_read(tmp_path: Path) -> None:
    (tmp_path / "backup.json").write_text(json.dumps(OLD))
    assert read_manifest(tmp_path) == Manifest(**OLD, contents=None, dump=None)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"made_at": "20', "null", "\udcff"])
def test_damaged_manifest_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "backup.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(DataError, match=r"backup\.json: damaged, "):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("made_at", 1), ("home", ""), ("database", None), ("rows", [1]), ("rows", {"a": -1}), ("files", "7"), ("files", True),
        ("contents", {}), ("dump", {"size": 1}), ("contents", None),
    ],
)  # fmt: skip
def test_wrong_value_is_named(tmp_path: Path, key: str, value: object) -> None:
    (tmp_path / "backup.json").write_text(json.dumps(OLD | {key: value}))
    with pytest.raises(DataError, match=r"backup\.json: damaged, `(\w+)` is missing or not what a backup writes there"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "runs/../../x", "eagle3.sqlite3", "runs"])
def test_names_outside_the_kept_folders_are_refused(tmp_path: Path, name: str) -> None:
    content = {"size": 1, "sha256": "ab"}
    (tmp_path / "backup.json").write_text(json.dumps(OLD | {"contents": {name: content}, "dump": content}))
    with pytest.raises(DataError, match="`contents`"):
        read_manifest(tmp_path)
