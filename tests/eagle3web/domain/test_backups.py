"""A backup or a restore that fails leaves things as they were."""

from pathlib import Path

import pytest

from eagle3web.domain.backups import back_up, restore
from eagle3web.domain.database_copies import CopyFailedError, place_in
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    """With a backup of one project and one file."""
    factories.project()
    (home / "datasets").mkdir()
    (home / "datasets" / "a.jsonl").write_text("one\n")
    back_up(tmp_path / "backup")
    return tmp_path / "backup"


def test_second_backup_takes_the_place_of_the_first(home: Path, folder: Path) -> None:
    factories.project()
    (home / "datasets" / "a.jsonl").write_text("one\ntwo\n")
    assert back_up(folder)["rows"]["eagle3web_project"] == 2
    assert sorted(path.name for path in folder.iterdir()) == ["backup.json", place_in(folder).name, "home"]
    assert [path.read_text() for path in (folder / "home").rglob("*") if path.is_file()] == ["one\ntwo\n"]


def test_backup_that_fails_leaves_the_one_before(home: Path, folder: Path) -> None:
    before = (folder / "backup.json").read_bytes(), place_in(folder).read_bytes()
    factories.project()
    (home / "projects").mkdir()
    (home / "projects" / "a.json").write_text("{}")
    (folder / "home" / "projects").write_text("no folder")
    with pytest.raises(OSError, match="projects"):
        back_up(folder)
    assert ((folder / "backup.json").read_bytes(), place_in(folder).read_bytes()) == before


def test_restore_that_is_refused_writes_no_file(folder: Path, home: Path) -> None:
    (home / "datasets" / "a.jsonl").unlink()
    with pytest.raises(CopyFailedError, match="has tables already"):
        restore(folder)
    place_in(folder).unlink()
    with pytest.raises(CopyFailedError, match="made of another kind of database"):
        restore(folder)
    assert [path for path in home.rglob("*") if path.is_file()] == []
