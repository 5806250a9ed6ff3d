"""A backup is whole or the one before it, and nobody else's to read."""

import json
import stat
from pathlib import Path

import pytest

from eagle3web.domain.backups import back_up, settle
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


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_second_backup_takes_the_place_of_the_first(home: Path, folder: Path) -> None:
    factories.project()
    (home / "datasets" / "a.jsonl").write_text("one\ntwo\n")
    (home / "datasets" / "b.jsonl").write_text("three\n")
    made = back_up(folder).manifest
    assert (made.rows["eagle3web_project"], made.files) == (2, 2)
    assert sorted(path.name for path in folder.iterdir()) == ["backup.json", place_in(folder).name, "home"]
    assert sorted(path.read_text() for path in (folder / "home").rglob("*") if path.is_file()) == ["one\ntwo\n", "three\n"]


def test_backup_that_fails_leaves_the_one_before(home: Path, folder: Path) -> None:
    before = held(folder)
    factories.project()
    (home / "datasets" / "a.jsonl").write_text("one\ntwo\n")
    (home / "projects").mkdir()
    (home / "projects" / "a.json").write_text("{}")
    (folder / "incoming" / "home").mkdir(parents=True)
    (folder / "incoming" / "home" / "projects").write_text("no folder")
    with pytest.raises(OSError, match="projects"):
        back_up(folder)
    assert {name: data for name, data in held(folder).items() if not name.startswith("incoming")} == before


def test_backup_that_was_interrupted_while_it_moved_in_is_settled_by_the_next_call(folder: Path) -> None:
    whole = held(folder)
    incoming = folder / "incoming"
    (incoming / "home" / "datasets").mkdir(parents=True)
    for name in ("home/datasets/a.jsonl", place_in(folder).name, "backup.json"):
        (folder / name).rename(incoming / name)
    settle(folder)
    assert held(folder) == whole
    assert not incoming.exists()


def test_record_says_what_each_file_holds(folder: Path) -> None:
    said = json.loads((folder / "backup.json").read_text())
    assert said["files"] == 1
    assert said["contents"] == {
        "datasets/a.jsonl": {"size": 4, "sha256": "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806"}
    }
    assert said["dump"]["size"] == place_in(folder).stat().st_size


def test_only_this_user_can_enter_a_backup(folder: Path) -> None:
    def mode(name: str) -> int:
        return stat.S_IMODE((folder / name).stat().st_mode)

    assert [mode(name) for name in (".", "home", place_in(folder).name, "backup.json")] == [0o700, 0o700, 0o600, 0o600]


def test_folder_that_was_there_keeps_its_mode_and_closes_what_is_in_it(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "open"
    (folder / "home").mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "home").chmod(0o755)
    back_up(folder)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "home", place_in(folder))] == [0o755, 0o700, 0o600]


@pytest.mark.parametrize("where", ["home", "home/backup", "."])
def test_places_in_the_home_and_around_it_are_refused(home: Path, tmp_path: Path, where: str) -> None:
    with pytest.raises(CopyFailedError, match="lies in the home that is to be copied, or around it"):
        back_up(tmp_path / where)
    assert list(home.iterdir()) == []


def test_file_in_the_place_of_the_folder_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CopyFailedError, match="file is no folder"):
        back_up(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
