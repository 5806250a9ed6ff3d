"""Projects over the API."""

import pytest

from eagle3web.enums import Role
from eagle3web.models import Project
from tests.support import factories as make
from tests.support.api import caller

pytestmark = pytest.mark.django_db

FIELDS = {"slug": "k2", "name": "K2 drafter", "target_model": "K2", "tokenizer": "/models/k2"}


def test_project_is_made_read_and_changed() -> None:
    api = caller("ada", Role.OPERATOR)
    answer = api.post("/api/projects", FIELDS | {"sampling": {"temperature": 0.7}})
    assert (answer.status_code, answer.json()["sampling"]) == (201, {"temperature": 0.7})
    assert str(Project.objects.get().created_by) == "ada"
    assert api.patch("/api/projects/k2", {"name": "K2.5 drafter"}).json()["name"] == "K2.5 drafter"
    assert api.get("/api/projects/k2").json()["target_model"] == "K2"


def test_slug_is_unique_and_the_message_says_so() -> None:
    make.project(slug="k2")
    answer = caller("ada", Role.OPERATOR).post("/api/projects", FIELDS)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "slug")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"slug": "a/b"}, "slug"),
        ({"slug": ""}, "slug"),
        ({"name": "\x00"}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": None}, "name"),
        ({"sampling": {"top_k": 0}}, "sampling"),
        ({"chat_template_kwargs": {"a": "\x00"}}, "chat_template_kwargs"),
    ],
)
def test_bad_fields_are_named(changes: dict[str, object], field: str) -> None:
    answer = caller("ada", Role.OPERATOR).post("/api/projects", FIELDS | changes)
    assert (answer.status_code, [error["field"] for error in answer.json()["errors"]]) == (422, [field])


def test_list_pages() -> None:
    for _ in range(3):
        make.project()
    answer = caller("ada", Role.VIEWER).get("/api/projects", limit=2, offset=2).json()
    assert (len(answer["items"]), answer["count"]) == (1, 3)


def test_forecast_says_what_is_needed_and_where_numbers_are_from() -> None:
    project = make.project(slug="k2", sampling={"max_new_tokens": 1000})
    make.revision(make.budget(project, make.dataset(slug="B1"), tokens=100_000).dataset, accepted=5_000)
    answer = caller("ada", Role.VIEWER).get("/api/projects/k2/forecast").json()
    (row,) = answer["rows"]
    assert (row["dataset"], row["mean_length"], row["forecast"]["answers"]["likely"]) == ("B1", 500, 200)
    assert row["lengths_from"].startswith("assumed")
    assert (answer["total"]["tokens"]["likely"], answer["total"]["hours"], answer["rate"]) == (100_000, None, None)
