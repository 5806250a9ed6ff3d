import json
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from eagle3web.domain import datasets
from eagle3web.models import DatasetRevision
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def imported(home: Path, tmp_path: Path) -> DatasetRevision:
    hostile = factories.HOSTILE.replace("\x00", "")  # a row with NUL is refused
    rows = [{"id": f"p{n}", "messages": [{"role": "user", "content": f"Question {n} {hostile}"}]} for n in range(50)]
    source = tmp_path / "prompts.jsonl"
    source.write_text("\n".join(json.dumps(row) for row in rows) + "\nnot json\n")
    revision = datasets.import_file(source, slug="B1", user=None)
    assert revision.error == ""
    return revision


def test_prompts_page_and_search(viewer: Client, imported: DatasetRevision) -> None:
    html = viewer.get("/datasets/B1/prompts/").content.decode()
    assert html.count('<article class="answer">') == 20
    assert "1 to 20 of 50" in html
    assert "<script>alert" not in html
    last = viewer.get("/datasets/B1/prompts/?offset=40").content.decode()
    assert (last.count("<article"), "Next" in last, "Previous" in last) == (10, False, True)
    assert viewer.get("/datasets/B1/prompts/?q=question 7 ").content.decode().count("<article") == 1


def test_report_names_lines_and_can_be_downloaded(viewer: Client, imported: DatasetRevision) -> None:
    html = viewer.get("/datasets/B1/").content.decode()
    assert "line 51" in html
    assert "not valid JSON" in html
    answer = viewer.get(f"/datasets/B1/revisions/{imported.pk}/report.json")
    assert json.loads(answer.getvalue())["rejected"] == 1


def test_prompts_whose_files_are_gone_say_so(viewer: Client) -> None:
    factories.revision(factories.dataset(slug="B2"))
    assert "cannot be read here" in viewer.get("/datasets/B2/prompts/").content.decode()


def test_upload_begins_an_import(operator: Client, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[DatasetRevision] = []
    monkeypatch.setattr(datasets, "import_in_background", lambda revision, path, remove: begun.append(revision))
    upload = SimpleUploadedFile("prompts.jsonl", b'{"prompt": "a"}\n')
    answer = operator.post("/datasets/import/", {"slug": "B3", "upload": upload, "licence": "MIT"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/datasets/B3/")
    (revision,) = begun
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
