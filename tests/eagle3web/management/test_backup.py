"""`manage.py backup` says in a line what it did or why not, and names every link that it met."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.django_db(transaction=True)


def said(*args: str) -> str:
    out = StringIO()
    call_command(*args, stdout=out, stderr=out)
    return out.getvalue()


def test_no_name_is_refused(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match="argument folder: name a folder"):
        said("backup", "")
    assert list(tmp_path.iterdir()) == [home]


def test_places_that_cannot_hold_a_backup_are_named(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CommandError, match=r"^\S+/file is no folder; choose another place\.$"):
        said("backup", str(tmp_path / "file"))
    with pytest.raises(CommandError, match=r"^/proc/x: \w.*\.$"):
        said("backup", "/proc/x")
    with pytest.raises(CommandError, match=r"^\S+/file: File exists\.$"):
        said("backup", str(tmp_path / "file" / "x"))


def test_links_are_named(home: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (home / "datasets").mkdir()
    (home / "datasets" / "a").symlink_to(tmp_path / "disk")
    (home / "datasets" / "b").symlink_to(tmp_path / "gone")
    assert said("backup", str(tmp_path / "backup")).splitlines()[:2] == [
        f"Followed a link: datasets/a → {tmp_path}/disk",
        f"Left out a link: datasets/b → {tmp_path}/gone",
    ]
