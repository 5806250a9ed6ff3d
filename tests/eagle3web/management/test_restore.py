"""`manage.py restore` says in a line what is back or why nothing is."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.support import factories
from tests.support.empty_database import empty_database

pytestmark = pytest.mark.django_db(transaction=True)


def said(*args: str) -> str:
    out = StringIO()
    call_command(*args, stdout=out, stderr=out)
    return out.getvalue()


def test_what_is_back_is_counted(home: Path, tmp_path: Path) -> None:
    factories.project()
    (home / "datasets").mkdir()
    (home / "datasets" / "a.jsonl").write_text("one\n")
    backup = tmp_path / "backup"
    assert "rows and 1 files are in" in said("backup", str(backup))
    (home / "datasets" / "a.jsonl").unlink()
    (backup / "home" / "datasets" / "a.jsonl").rename(tmp_path / "kept")
    with empty_database(tmp_path):
        with pytest.raises(CommandError, match=r"datasets/a\.jsonl is missing\. Nothing was restored"):
            said("restore", str(backup))
        manifest = json.loads((backup / "backup.json").read_text())
        del manifest["contents"], manifest["dump"]
        (backup / "backup.json").write_text(json.dumps(manifest))
        told = said("restore", str(backup)).splitlines()
    assert "rows and 0 files of" in told[0]
    assert told[1:3] == [
        "An older version made this backup, without a record of its files: none could be compared.",
        "At least 1 of the 1 files that it speaks of are missing.",
    ]
