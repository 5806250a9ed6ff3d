import json
from pathlib import Path

import pytest
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


def test_title_and_notes_are_shown_and_edited(operator: Client) -> None:
    dataset = factories.dataset(slug="B1", title="Old title", notes="Old notes")
    assert "Old notes" in operator.get("/datasets/B1/").content.decode()
    form = operator.get("/datasets/B1/edit/").content.decode()
    assert 'value="Old title"' in form
    fields = {"title": "Glaive", "notes": "One line\n<b>and another</b>", "licence": "MIT"}
    assert operator.post("/datasets/B1/edit/", fields).headers["Location"] == "/datasets/B1/"
    dataset.refresh_from_db()
    assert (dataset.title, dataset.licence, dataset.source) == ("Glaive", "MIT", "")
    html = operator.get("/datasets/B1/").content.decode()
    assert "<h2>Glaive</h2>" in html
    assert "&lt;b&gt;and another&lt;/b&gt;" in html
    assert operator.post("/datasets/B1/edit/", {"title": "x" * 201}).status_code == 422


def test_viewer_is_not_offered_to_edit(viewer: Client) -> None:
    factories.dataset(slug="B1")
    assert "/datasets/B1/edit/" not in viewer.get("/datasets/B1/").content.decode()
