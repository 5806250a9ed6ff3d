import csv
import io
import json

import pytest
from django.test import Client

from tests.eagle3web.views.conftest import client_of
from tests.support import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def auditor(db: None) -> Client:
    return client_of("view_auditentry")


@pytest.fixture
def trail(db: None) -> None:
    ada = make.user("ada")
    make.audit("run.stop", "run 12", user=ada, detail={"was": "running"})
    make.audit("budget.change", "token budget 3", detail={"changes": {"tokens": [1, 2]}})
    make.audit("project.create", "=cmd|' /C calc'!A0", detail={"slug": make.HOSTILE.replace("\x00", "")})


def test_page_says_who_did_what_to_what(auditor: Client, trail: None, django_assert_max_num_queries: object) -> None:
    with django_assert_max_num_queries(20):  # type: ignore[operator]
        html = auditor.get("/audit/").content.decode()
    assert ('<a href="/runs/12/">run 12</a>' in html, "1 → 2" in html, "<script>alert" in html) == (True, True, False)
    assert "No" not in auditor.get("/audit/", {"person": "ada"}).context["entries"]
    assert [shown.entry.verb for shown in auditor.get("/audit/", {"person": "ada"}).context["entries"]] == ["run.stop"]


def test_filters_stand_in_the_address_of_older_pages_and_exports(auditor: Client) -> None:
    for number in range(60):
        make.audit("run.stop", f"run {number}")
    answer = auditor.get("/audit/", {"verb": "run", "thing": "run"})
    html = answer.content.decode()
    assert len(answer.context["entries"]) == 50
    assert f"?verb=run&amp;thing=run&amp;before={answer.context['older']}" in html
    assert "/audit/export.csv?verb=run&amp;thing=run" in html
    assert len(auditor.get("/audit/", {"verb": "run", "before": answer.context["older"]}).context["entries"]) == 10


def test_senseless_filters_are_said(auditor: Client, trail: None) -> None:
    answer = auditor.get("/audit/", {"since": "soon"})
    assert "Enter a valid date" in answer.content.decode()
    assert auditor.get("/audit/export.csv", {"since": "soon"}).status_code == 422
    for ends in ({"until": "9999-12-31"}, {"since": "0001-01-01"}):
        assert auditor.get("/audit/", ends).status_code == 200
        assert auditor.get("/audit/export.csv", ends).status_code == 422


def test_csv_is_whole_and_runs_nothing(auditor: Client, trail: None) -> None:
    answer = auditor.get("/audit/export.csv")
    rows = list(csv.reader(io.StringIO(answer.getvalue().decode())))
    assert rows[0] == ["id", "at", "person", "verb", "thing", "detail"]
    assert [row[3] for row in rows[1:]] == ["project.create", "budget.change", "run.stop"]
    assert rows[1][4] == "'=cmd|' /C calc'!A0"
    assert json.loads(rows[2][5]) == {"changes": {"tokens": [1, 2]}}
    assert 'filename="audit.csv"' in answer.headers["Content-Disposition"]


def test_json_is_one_array_and_follows_the_filters(auditor: Client, trail: None) -> None:
    found = json.loads(auditor.get("/audit/export.json", {"person": "ada"}).getvalue())
    assert [(entry["thing"], entry["person"], entry["detail"]) for entry in found] == [("run 12", "ada", {"was": "running"})]
    assert json.loads(auditor.get("/audit/export.json", {"thing": "nothing"}).getvalue()) == []


def test_empty_trail_says_what_will_stand_there(auditor: Client) -> None:
    assert "Nothing was done yet" in auditor.get("/audit/").content.decode()
    assert "Nothing like this" in auditor.get("/audit/?thing=x").content.decode()


def test_only_those_who_may_see_it_do(viewer: Client, auditor: Client) -> None:
    assert [viewer.get(f"/audit/{path}").status_code for path in ("", "export.csv", "export.json")] == [403, 403, 403]
    assert 'href="/audit/"' not in viewer.get("/engines/").content.decode()
    assert auditor.post("/audit/").status_code == 405
