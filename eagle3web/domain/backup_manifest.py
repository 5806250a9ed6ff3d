"""`backup.json`: what a backup holds, written when all of it is there."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from eagle3web.domain.backup_files import KEY, PARTS, Content
from pipeline.artifacts import read_record, write_json
from pipeline.errors import DataError

NAME = "backup.json"


@dataclass(frozen=True)
class Manifest:
    made_at: str
    home: str
    database: str
    """Its vendor."""
    rows: dict[str, int]
    """Of each table."""
    files: int
    contents: dict[str, Content] | None
    """Of each file below the copy of the home; None in backups of versions that did not write it down."""
    dump: Content | None
    """The copy of the database; None as above."""

    def write(self, folder: Path) -> None:
        write_json(folder / NAME, {name: value for name, value in asdict(self).items() if value is not None})


def read_manifest(folder: Path) -> Manifest:
    """Raises DataError that names the file and what is wrong with it."""
    path = folder / NAME
    said = read_record(path)
    old = said.keys().isdisjoint({"contents", "dump"})

    def get(name: str, fits: Callable[[Any], bool]) -> Any:  # noqa: ANN401  (any JSON value)
        if not fits(said.get(name)):
            raise DataError(f"{path}: damaged, `{name}` is missing or not what a backup writes there")
        return said[name]

    return Manifest(
        made_at=get("made_at", _is_text),
        home=get("home", _is_text),
        database=get("database", _is_text),
        rows=get("rows", lambda value: isinstance(value, dict) and all(_is_count(count) for count in value.values())),
        files=get("files", _is_count),
        contents=None if old else {name: Content(**content) for name, content in get("contents", _is_contents).items()},
        dump=None if old else Content(**get("dump", _is_content)),
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_content(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"size", "sha256"}
        and _is_count(value["size"])
        and _is_text(value["sha256"])
    )


def _is_contents(value: object) -> bool:
    return isinstance(value, dict) and all(_is_kept(name) and _is_content(content) for name, content in value.items())


def _is_kept(name: str) -> bool:
    """A name that a restore may write below the home."""
    parts = PurePosixPath(name).parts
    return name == KEY or (len(parts) > 1 and parts[0] in PARTS and ".." not in parts)
