"""Imports from the command line."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from eagle3web.domain.datasets import begin_import
from eagle3web.enums import RevisionState
from eagle3web.models import DatasetRevision
from tests.support.models import tiny_tokenizer
from tests.support.prompts import CASES, write_lines

pytestmark = pytest.mark.django_db

FILES = CASES / "datasets"


def output(*command: str | Path) -> str:
    stream = StringIO()
    call_command("import_dataset", *map(str, command), stdout=stream)
    return stream.getvalue().strip()


def test_a_file_becomes_a_revision(home: Path, tmp_path: Path) -> None:
    folder = tiny_tokenizer(tmp_path / "tokenizer")
    said = output(FILES / "alpaca.json", "--slug", "B1_set", "--licence", "MIT", "--tokenizer", folder)
    row = DatasetRevision.objects.get()
    assert said == f"B1_set {row.revision}: 2 prompts, 1 rows rejected"
    assert (row.dataset.licence, row.token_lengths["sampled"]) == ("MIT", 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((FILES / "not_json.jsonl", "--slug", "set"), r"not_json\.jsonl: no valid row \(3 rows rejected\)"),
        ((FILES / "absent.jsonl", "--slug", "set"), "No such file"),
        ((FILES / "roles.jsonl", "--slug", "a b"), "Letters, digits"),
        ((FILES / "roles.jsonl", "--slug", "set", "--tokenizer", "/absent"), r"holds no tokenizer\.json"),
        ((FILES / "roles.jsonl", "--revision", "77"), "There is no import 77"),
        ((FILES / "roles.jsonl",), "one of the arguments --slug --revision is required"),
    ],
)
def test_what_cannot_be_done_is_named(home: Path, arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        output(*arguments)


def test_a_begun_import_is_carried_out_and_its_file_removed(home: Path, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "upload", {"prompt": "hi"})
    row = begin_import(source, slug="set", user=None, name="mine.jsonl")
    output(source, "--revision", str(row.pk), "--remove")
    row.refresh_from_db()
    assert (row.state, row.accepted, row.file_name) == (RevisionState.READY, 1, "mine.jsonl")
    assert not source.exists()
    with pytest.raises(CommandError, match="There is no import"):
        output(FILES / "roles.jsonl", "--revision", str(row.pk))
