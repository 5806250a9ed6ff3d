"""A restore brings everything back, or leaves the empty installation that it found."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import DatabaseError, connection

from eagle3web.domain import restores
from eagle3web.domain.backups import back_up
from eagle3web.domain.database_copies import CopyFailedError, place_in
from eagle3web.domain.restores import HalfRestoredError, restore
from eagle3web.models import Project
from pipeline.errors import DataError
from tests.support import factories
from tests.support.empty_database import empty_database

pytestmark = pytest.mark.django_db(transaction=True)
FILES = {"datasets/a/prompts.jsonl": "one\n", "projects/k2/responses/a/part-00001.jsonl": "two\n" * 9, "secret_key": "theirs"}


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    """A backup of one project and its files; the home it was made of is empty again, but for a key of its own."""
    factories.project(slug="k2")
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    back_up(tmp_path / "backup")
    for name in FILES:
        (home / name).unlink()
    for part in ("datasets/a", "datasets", "projects/k2/responses/a", "projects/k2/responses", "projects/k2", "projects"):
        (home / part).rmdir()
    (home / "secret_key").write_text("ours")
    return tmp_path / "backup"


@pytest.fixture
def empty(folder: Path, tmp_path: Path) -> Iterator[None]:
    with empty_database(tmp_path):
        yield


def held(home: Path) -> dict[str, str]:
    return {str(path.relative_to(home)): path.read_text() for path in sorted(home.rglob("*")) if path.is_file()}


def is_empty(home: Path) -> bool:
    return held(home) == {"secret_key": "ours"} and connection.introspection.table_names() == []


def cut(path: Path, size: int) -> None:
    os.truncate(path, size)


def forget_record(folder: Path) -> None:
    """As versions wrote it that kept no record of files: the key did not count."""
    said = json.loads((folder / "backup.json").read_text())
    del said["contents"], said["dump"]
    (folder / "backup.json").write_text(json.dumps(said | {"files": 2}))


@pytest.mark.usefixtures("empty")
def test_everything_is_back(folder: Path, home: Path) -> None:
    found = restore(folder)
    assert (found.files, found.missing) == (3, 0)
    assert held(home) == FILES
    assert [project.slug for project in Project.objects.all()] == ["k2"]


@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize("text", ["", "{}", "[]", '{"made_at": "2026'])
def test_damaged_manifest_is_refused(folder: Path, home: Path, text: str) -> None:
    whole = (folder / "backup.json").read_text()
    (folder / "backup.json").write_text(text)
    with pytest.raises(DataError, match=r"backup\.json: damaged"):
        restore(folder)
    assert is_empty(home)
    (folder / "backup.json").write_text(whole)
    assert restore(folder).files == 3


@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize("recorded", [True, False])
def test_damaged_database_is_refused(folder: Path, home: Path, recorded: bool) -> None:
    if not recorded:
        forget_record(folder)
    cut(place_in(folder), place_in(folder).stat().st_size // 2)
    with pytest.raises(CopyFailedError, match=r"database\.sqlite3 is damaged|pg_restore failed"):
        restore(folder)
    assert is_empty(home)


@pytest.mark.usefixtures("empty")
def test_files_that_are_missing_or_cut_are_refused_by_name(folder: Path, home: Path) -> None:
    cut(folder / "home" / "projects" / "k2" / "responses" / "a" / "part-00001.jsonl", 5)
    (folder / "home" / "datasets" / "a" / "prompts.jsonl").unlink()
    with pytest.raises(CopyFailedError) as raised:
        restore(folder)
    assert str(raised.value) == (
        f"{folder} is damaged, 2 of 4 files: datasets/a/prompts.jsonl is missing; "
        "projects/k2/responses/a/part-00001.jsonl has 5 bytes instead of 36"
    )
    assert is_empty(home)


@pytest.mark.usefixtures("empty")
def test_backup_without_a_record_of_files_is_restored_and_what_is_missing_counted(folder: Path, home: Path) -> None:
    forget_record(folder)
    (folder / "home" / "datasets" / "a" / "prompts.jsonl").unlink()
    found = restore(folder)
    assert (found.files, found.missing) == (2, 1)
    assert Project.objects.count() == 1


@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize("key", [{"secret_key": "ours"}, {}])
def test_what_fails_later_leaves_the_empty_installation(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch, key: dict[str, str]
) -> None:
    if not key:
        (home / "secret_key").unlink()
    (home / "projects").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(restores, "count_rows", dict)
        with pytest.raises(CopyFailedError, match="the restored database has other numbers of rows than the backup says"):
            restore(folder)
    assert (held(home), connection.introspection.table_names()) == (key, [])
    assert restore(folder).files == 3


@pytest.mark.usefixtures("empty")
def test_what_cannot_be_taken_away_is_named(folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise DatabaseError("no server")

    monkeypatch.setattr(restores, "count_rows", dict)
    monkeypatch.setattr(restores, "empty", fail)
    with pytest.raises(HalfRestoredError, match=f"no server.*Delete datasets, .* in {home} and every table"):
        restore(folder)
    assert held(home) == {"secret_key": "ours"}


def test_restore_that_is_refused_writes_no_file(folder: Path, home: Path) -> None:
    with pytest.raises(CopyFailedError, match="has tables already"):
        restore(folder)
    place_in(folder).unlink()
    with pytest.raises(CopyFailedError, match="made of another kind of database"):
        restore(folder)
    (folder / "backup.json").unlink()
    with pytest.raises(CopyFailedError, match="it is no backup, or one that was never finished"):
        restore(folder)
    assert held(home) == {"secret_key": "ours"}


def test_home_with_files_is_refused(folder: Path, home: Path) -> None:
    (home / "runs" / "1").mkdir(parents=True)
    with pytest.raises(CopyFailedError, match="has runs already; restore into an empty home"):
        restore(folder)
