import pytest
from django.test import Client
from django.utils import timezone

from tests.support import factories as make

pytestmark = pytest.mark.django_db


def test_bell_opens_what_needs_somebody(viewer: Client) -> None:
    project = make.project(slug="k2")
    make.attempt(make.run(project), status="lost", ended_at=timezone.now(), reason="<b>gone</b>")
    html = viewer.get(f"/needs/{project.pk}/", headers={"HX-Request": "true"}).content.decode()
    assert ("attempt 1 is lost" in html, "&lt;b&gt;gone&lt;/b&gt;" in html) == (True, True)
    assert viewer.get(f"/needs/{project.pk}/").headers["Location"] == "/projects/k2/"
    assert viewer.get("/needs/999/").status_code == 404


def test_bell_asks_a_bounded_number_of_questions(viewer: Client, django_assert_max_num_queries: object) -> None:
    project = make.project()
    for _ in range(8):
        make.progress(make.attempt(make.run(project)))
        make.attempt(make.run(project), status="failed", ended_at=timezone.now())
    with django_assert_max_num_queries(24):  # type: ignore[operator]
        assert viewer.get(f"/needs/{project.pk}/", headers={"HX-Request": "true"}).status_code == 200


def test_bell_is_on_every_page_of_a_project_and_calm_at_first(viewer: Client) -> None:
    make.project(slug="k2")
    html = viewer.get("/projects/k2/").content.decode()
    assert ('id="bell"' in html, 'data-runs="0"' in html) == (True, True)
    assert 'data-failed="/static/icon-failed.svg"' in html
