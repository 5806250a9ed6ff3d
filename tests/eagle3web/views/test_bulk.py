import json

import pytest
from django.test import Client

from eagle3web.models import Project, Run
from tests.support import factories

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def project() -> Project:
    return factories.project(slug="p")


def numbers(*runs: Run) -> str:
    return ",".join(str(run.pk) for run in runs)


def test_stop_asks_once_and_says_what_becomes_of_each(operator: Client, project: Project) -> None:
    live, queued, ended = (factories.run(project) for _ in range(3))
    factories.attempt(live)
    factories.attempt(ended, status="finished")
    html = operator.get(f"/projects/p/runs/stop/?runs={numbers(live, queued, ended)}", headers=HTMX).content.decode()
    assert "Stop 2 runs?" in html
    assert f"1 run at work: asked to stop, and what is done is saved first. r{live.pk}." in html
    assert f"1 run queued: will not start. r{queued.pk}." in html
    assert f"1 run ended already: nothing happens. r{ended.pk}." in html
    assert set(Run.objects.values_list("status", flat=True)) == {"running", "queued", "finished"}
    answer = operator.post("/projects/p/runs/stop/", {"runs": numbers(live, queued, ended)}, headers=HTMX)
    assert json.loads(answer.headers["HX-Trigger"])["done"] == {"title": "2 asked to stop, 1 ended before"}
    assert set(Run.objects.values_list("status", flat=True)) == {"stopping", "stopped", "finished"}


def test_tags_are_added_and_removed_together(operator: Client, project: Project) -> None:
    runs = [factories.run(project, tags=["old"]) for _ in range(2)]
    answer = operator.post("/projects/p/runs/tag/", {"runs": numbers(*runs), "add": "new, b", "drop": "old"})
    assert answer.headers["Location"] == "/projects/p/runs/"
    assert [run.tags for run in Run.objects.all()] == [["new", "b"], ["new", "b"]]


def test_odd_tag_changes_nothing_and_says_why(operator: Client, project: Project) -> None:
    run = factories.run(project)
    answer = operator.post("/projects/p/runs/tag/", {"runs": numbers(run), "add": "x" * 50}, headers=HTMX)
    assert answer.status_code == 422
    assert "is no tag" in answer.content.decode()


@pytest.mark.parametrize("act", ["stop", "tag"])
def test_without_a_run_there_is_nothing_to_do(operator: Client, project: Project, act: str) -> None:
    other = factories.run()
    for answer in (
        operator.get(f"/projects/p/runs/{act}/"),
        operator.post(f"/projects/p/runs/{act}/", {"runs": numbers(other)}),
    ):
        assert answer.status_code == 422
        assert "No run is chosen" in answer.content.decode()


@pytest.mark.parametrize("act", ["stop", "tag"])
def test_viewers_do_nothing_to_several_runs(viewer: Client, project: Project, act: str) -> None:
    assert viewer.post(f"/projects/p/runs/{act}/", {"runs": numbers(factories.run(project))}).status_code == 403
    assert f"/projects/p/runs/{act}/" not in viewer.get("/projects/p/runs/").content.decode()
