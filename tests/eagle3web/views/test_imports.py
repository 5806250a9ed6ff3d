import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from eagle3web.domain import datasets
from eagle3web.models import Dataset, DatasetRevision
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[tuple[DatasetRevision, Path]]:
    """Imports that would be carried out by a process of their own, with their files."""
    found: list[tuple[DatasetRevision, Path]] = []
    monkeypatch.setattr(datasets, "import_in_background", lambda revision, path, remove: found.append((revision, path)))
    return found


def prompts_file(text: bytes = b'{"prompt": "a"}\n') -> SimpleUploadedFile:
    return SimpleUploadedFile("prompts.jsonl", text)


def test_upload_begins_an_import(operator: Client, home: Path, begun: list[tuple[DatasetRevision, Path]]) -> None:
    answer = operator.post("/datasets/import/", {"slug": "B3", "upload": prompts_file(), "licence": "MIT"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/datasets/B3/")
    ((revision, _path),) = begun
    assert (revision.file_name, revision.state, revision.dataset.licence) == ("prompts.jsonl", "importing", "MIT")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"slug": "B3"}, "Choose a file, or write a path"),
        ({"slug": "../etc", "path": "x"}, "Letters, digits, dot, dash and underscore"),
        ({"slug": "B3", "path": "../../etc/passwd"}, "no such file below the import folder"),
        ({"slug": "B3", "path": "none.jsonl"}, "no such file below the import folder"),
    ],
)
def test_import_that_cannot_be_says_why(operator: Client, home: Path, fields: dict[str, str], reason: str) -> None:
    answer = operator.post("/datasets/import/", fields)
    assert answer.status_code == 422
    assert reason in answer.content.decode()
    assert DatasetRevision.objects.count() == 0


def test_files_of_the_import_folder_are_offered(operator: Client) -> None:
    root = Path(settings.EAGLE3_IMPORT_ROOT)
    root.mkdir(parents=True, exist_ok=True)
    (root / "offered.jsonl").write_text("")
    assert '<option value="offered.jsonl">' in operator.get("/datasets/import/").content.decode()
    (root / "offered.jsonl").unlink()


@pytest.mark.parametrize("second", [None, b'{"prompt": "b"}\n'])
def test_upload_is_kept_while_the_name_is_mended(
    operator: Client, home: Path, begun: list[tuple[DatasetRevision, Path]], second: bytes | None
) -> None:
    refused = operator.post("/datasets/import/", {"slug": "my prompts", "upload": prompts_file()})
    html = refused.content.decode()
    assert (refused.status_code, "<b>prompts.jsonl</b>, 16\u00a0B, is uploaded and kept" in html) == (422, True)
    token = re.findall(r'name="kept" value="([^"]+)"', html)[0]
    fields = {"slug": "B3", "kept": token} | ({"upload": prompts_file(second)} if second else {})
    assert operator.post("/datasets/import/", fields).status_code == 302
    ((revision, path),) = begun
    assert (revision.file_name, path.read_bytes()) == ("prompts.jsonl", second or b'{"prompt": "a"}\n')


@pytest.mark.parametrize("token", ["nonsense", "../../secret_key:x:y"])
def test_upload_that_is_not_kept_is_asked_for_again(operator: Client, home: Path, token: str) -> None:
    answer = operator.post("/datasets/import/", {"slug": "B3", "kept": token})
    assert (answer.status_code, "choose it again" in answer.content.decode()) == (422, True)


def test_failed_first_import_is_dismissed_with_its_dataset(operator: Client) -> None:
    row = factories.revision(factories.dataset(slug="B3"), state="failed", error="no valid row", revision="")
    address = f"/datasets/B3/revisions/{row.pk}/dismiss/"
    assert address in operator.get("/datasets/B3/").content.decode()
    assert "so the dataset goes too" in operator.get(address).content.decode()
    assert operator.post(address).headers["Location"] == "/datasets/"
    assert Dataset.objects.count() == 0


def test_failed_later_import_is_dismissed_alone(operator: Client) -> None:
    ready = factories.revision(factories.dataset(slug="B3"))
    row = factories.revision(ready.dataset, state="failed", revision="")
    assert operator.post(f"/datasets/B3/revisions/{row.pk}/dismiss/").headers["Location"] == "/datasets/B3/"
    assert list(ready.dataset.revisions.all()) == [ready]
    assert operator.post(f"/datasets/B3/revisions/{ready.pk}/dismiss/").headers["Location"] == "/datasets/B3/"
    assert list(ready.dataset.revisions.all()) == [ready]
