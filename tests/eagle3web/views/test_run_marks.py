import pytest
from django.test import Client

from eagle3web.models import Run, Star
from tests.support import factories
from tests.support.factories import HOSTILE

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def test_viewer_stars_and_unstars_for_herself(viewer: Client) -> None:
    run = factories.run()
    html = viewer.post(f"/runs/{run.pk}/star/", headers=HTMX).content.decode()
    assert 'aria-pressed="true"' in html
    assert Star.objects.count() == 1
    assert 'aria-pressed="true"' in viewer.get(f"/projects/{run.project.slug}/runs/").content.decode()
    assert 'aria-pressed="false"' in viewer.post(f"/runs/{run.pk}/star/", headers=HTMX).content.decode()
    assert Star.objects.count() == 0


def test_operator_adds_and_removes_tags_in_place(operator: Client) -> None:
    run = factories.run(tags=["old"])
    html = operator.post(f"/runs/{run.pk}/tags/", {"add": "new, newer"}, headers=HTMX).content.decode()
    assert Run.objects.get().tags == ["old", "new", "newer"]
    assert f'id="run-tags-{run.pk}"' in html
    operator.post(f"/runs/{run.pk}/tags/", {"drop": "old", "add": ""}, headers=HTMX)
    assert Run.objects.get().tags == ["new", "newer"]
    closed = operator.get(f"/runs/{run.pk}/tags/?done", headers=HTMX).content.decode()
    assert "<form" not in closed
    assert "newer" in closed


def test_editor_offers_tags_of_other_runs(operator: Client) -> None:
    run = factories.run(tags=["mine"])
    factories.run(run.project, tags=["nightly", "mine"])
    html = operator.get(f"/runs/{run.pk}/tags/", headers=HTMX).content.decode()
    assert '<option value="nightly">' in html
    assert '<option value="mine">' not in html


def test_odd_tag_is_refused_with_the_reason(operator: Client) -> None:
    run = factories.run()
    answer = operator.post(f"/runs/{run.pk}/tags/", {"add": "x" * 60}, headers=HTMX)
    assert (answer.status_code, Run.objects.get().tags) == (422, [])
    assert "is no tag" in answer.content.decode()


def test_notes_are_kept_and_shown_as_text(operator: Client) -> None:
    run = factories.run()
    html = operator.post(f"/runs/{run.pk}/notes/", {"notes": HOSTILE}, headers=HTMX).content.decode()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert operator.post(f"/runs/{run.pk}/notes/", {"notes": "plain"}).headers["Location"] == f"/runs/{run.pk}/"
    assert "plain" in operator.get(f"/runs/{run.pk}/").content.decode()


def test_too_long_notes_come_back_to_be_shortened(operator: Client) -> None:
    run = factories.run(notes="before")
    answer = operator.post(f"/runs/{run.pk}/notes/", {"notes": "y" * 20_001}, headers=HTMX)
    assert answer.status_code == 422
    assert "y" * 20_001 in answer.content.decode()
    assert Run.objects.get().notes == "before"


@pytest.mark.parametrize("what", ["tags", "notes"])
def test_viewers_write_nothing(viewer: Client, what: str) -> None:
    run = factories.run()
    assert viewer.post(f"/runs/{run.pk}/{what}/", {"add": "x", "notes": "x"}).status_code == 403
    assert f"/runs/{run.pk}/{what}/" not in viewer.get(f"/runs/{run.pk}/").content.decode()


def test_marks_are_set_by_post_only(operator: Client) -> None:
    assert operator.get(f"/runs/{factories.run().pk}/star/").status_code == 405
