"""Answers for programs."""

from pathlib import Path

import pytest
from pytest_django import DjangoAssertNumQueries

from eagle3web.domain.answer_copies import AnswerCopier
from eagle3web.models import Answer, AnswerFlag, Project
from pipeline.artifacts import Home
from tests.support import factories as make
from tests.support.answers import answer
from tests.support.api import Caller, caller
from tests.support.extraction import store_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Caller:
    return caller("ope", "operator")


@pytest.fixture
def project() -> Project:
    return make.project(slug="k2")


def test_list_is_filtered_and_goes_on_from_its_cursor(
    api: Caller, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(5):
        row = make.stored_answer(project, tokens=n + 1, prompt="p" * 500, finish_reason="length" if n else "stop")
        make.flag(row, state="excluded", author=make.user(f"ada-{n}"))
    seen, after = [], ""
    while True:
        with django_assert_max_num_queries(8):
            asked = {"dataset": "B1", "finish": "length", "sort": "longest", "limit": 3, "after": after}
            body = api.get("/api/projects/k2/answers", **asked).json()
        seen += [item["tokens"] for item in body["items"]]
        if not (after := body["after"]):
            break
    assert seen == [5, 4, 3, 2]
    item = body["items"][0]
    assert (len(item["prompt"]), item["flag"]["state"], item["flag"]["author"]) == (240, "excluded", "ada-1")


@pytest.mark.parametrize(
    "query", [{}, {"dataset": "B1", "sort": "odd"}, {"dataset": "B1", "min": 3}, {"dataset": "B1", "repetition": 2}]
)
def test_impossible_filters_are_refused(api: Caller, project: Project, query: dict[str, object]) -> None:
    assert api.get("/api/projects/k2/answers", **query).status_code == 422


def test_one_answer_is_whole_where_its_file_is(api: Caller, project: Project, home: Path) -> None:
    folder = Home(home).responses("k2")
    folder.parent.mkdir(parents=True)
    store_answers(folder.parent, [answer(1, text="x" * 5000)])
    AnswerCopier(project.pk, folder).copy()
    row = Answer.objects.get()
    body = api.get(f"/api/answers/{row.pk}").json()
    assert (body["text"], body["whole"], body["messages"]) == ("x" * 5000, True, [{"role": "user", "content": "question 1"}])
    (folder / "B1" / "part-00001.jsonl").unlink()
    body = api.get(f"/api/answers/{row.pk}").json()
    assert (body["text"], body["whole"], "not on this host" in body["away"]) == ("x" * 4000, False, True)
    error = make.stored_answer(project, error="too long", text="")
    assert api.get(f"/api/answers/{error.pk}").json()["away"] == "there is no answer"


def test_flag_exclude_keep(api: Caller, project: Project) -> None:
    row = make.stored_answer(project)
    assert api.post(f"/api/answers/{row.pk}/flag", {"reason": ""}).status_code == 422
    made = api.post(f"/api/answers/{row.pk}/flag", {"reason": "it loops"})
    assert (made.status_code, made.json()["state"], made.json()["author"]) == (201, "flagged", "ope")
    again = api.post(f"/api/answers/{row.pk}/flag", {"reason": "it loops"})
    assert (again.status_code, again.json()["detail"]) == (409, "it is flagged already")
    flag = AnswerFlag.objects.get()
    done = api.post(f"/api/answers/flags/{flag.pk}/exclude").json()
    assert (done["state"], done["reviewed_by"]) == ("excluded", "ope")
    listed = api.get("/api/projects/k2/exclusions").json()
    assert (listed["count"], listed["by"], listed["answers"]) == (1, ["ope"], [{"dataset": "B1", "keys": [row.key]}])
    assert len(listed["hash"]) == 8
    assert api.post(f"/api/answers/flags/{flag.pk}/keep").json()["state"] == "kept"
    assert api.get("/api/projects/k2/exclusions").json()["hash"] == ""
    assert [item["id"] for item in api.get("/api/projects/k2/flags", state="kept").json()["items"]] == [flag.pk]
    assert api.get("/api/projects/k2/flags", state="flagged").json()["count"] == 0
