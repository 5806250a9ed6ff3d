import io
import json
import tarfile
from pathlib import Path

import pytest
from django.test import Client

from eagle3web.enums import Review
from eagle3web.models import AuditEntry, Checkpoint
from tests.eagle3web.views.conftest import client_of
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def checkpoint() -> Checkpoint:
    return factories.checkpoint(step=100, folder=True, review=Review.APPROVED)


@pytest.fixture
def promoter(db: None) -> Client:
    return client_of("view_run", "change_checkpoint")


def test_promotion_asks_once_and_says_what_it_replaces(promoter: Client, checkpoint: Checkpoint) -> None:
    before = factories.checkpoint(checkpoint.attempt, step=50, promoted=True)
    path = f"/checkpoints/{checkpoint.pk}/promote/"
    html = promoter.get(path, headers=HTMX).content.decode()
    assert f"{before} is not promoted any more; its files stay." in html
    assert list(Checkpoint.objects.filter(promoted=True)) == [before]
    answer = promoter.post(path, headers=HTMX)
    assert json.loads(answer.headers["HX-Trigger"]) == {"done": {"title": f"{checkpoint} is promoted"}}
    assert list(Checkpoint.objects.filter(promoted=True)) == [checkpoint]
    assert "promoted already" in promoter.post(path, headers=HTMX).headers["HX-Trigger"]


def test_promotion_without_a_script_is_a_page_and_leads_back(promoter: Client, checkpoint: Checkpoint) -> None:
    path = f"/checkpoints/{checkpoint.pk}/promote/"
    html = promoter.get(path).content.decode()
    assert f'href="/checkpoints/{checkpoint.pk}/">Not now' in html
    answer = promoter.post(path)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/checkpoints/{checkpoint.pk}/")


def test_promotion_of_deleted_files_is_refused_with_the_reason(promoter: Client, checkpoint: Checkpoint) -> None:
    Checkpoint.objects.update(removed_at=checkpoint.saved_at)
    answer = promoter.post(f"/checkpoints/{checkpoint.pk}/promote/", headers=HTMX)
    assert answer.status_code == 409
    assert "were deleted" in answer.content.decode()


def test_what_nobody_approved_is_asked_for_once_more(promoter: Client, checkpoint: Checkpoint) -> None:
    Checkpoint.objects.update(review=Review.REJECTED)
    path = f"/checkpoints/{checkpoint.pk}/promote/"
    assert "It was rejected." in promoter.get(path, headers=HTMX).content.decode()
    asked = promoter.post(path, headers=HTMX)
    assert (asked.status_code, Checkpoint.objects.filter(promoted=True).exists()) == (200, False)
    assert "Promote it all the same" in asked.content.decode()
    assert promoter.post(path, {"anyway": "True"}, headers=HTMX).status_code == 204
    assert list(Checkpoint.objects.filter(promoted=True)) == [checkpoint]
    assert AuditEntry.objects.get(verb="checkpoint.promote").detail["review"] == "rejected"


def test_viewer_may_not_promote(viewer: Client, checkpoint: Checkpoint) -> None:
    assert viewer.post(f"/checkpoints/{checkpoint.pk}/promote/").status_code == 403
    assert "Promote…" not in viewer.get(f"/checkpoints/{checkpoint.pk}/").content.decode()


def test_download_is_an_archive_of_the_exported_files(viewer: Client, checkpoint: Checkpoint) -> None:
    answer = viewer.get(f"/checkpoints/{checkpoint.pk}/download.tar")
    name = f"{checkpoint.project.slug}-r{checkpoint.run_id}-step-100"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}.tar"'
    data = answer.getvalue()
    assert len(data) == int(answer.headers["Content-Length"])
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        assert archive.getnames() == [
            f"{name}/{file}" for file in ("README.md", "config.json", "manifest.json", "model.safetensors")
        ]


def test_download_of_what_is_not_here_is_not_found(viewer: Client, checkpoint: Checkpoint, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    for path in (str(tmp_path), f"{checkpoint.path}-other"):
        Checkpoint.objects.update(path=path)
        assert viewer.get(f"/checkpoints/{checkpoint.pk}/download.tar").status_code == 404
        html = viewer.get(f"/checkpoints/{checkpoint.pk}/").content.decode()
        assert "download.tar" not in html


def test_list_pages_and_shows_deleted_ones_on_demand(viewer: Client, checkpoint: Checkpoint) -> None:
    for step in range(200, 228):
        factories.checkpoint(checkpoint.attempt, step=step)
    factories.checkpoint(checkpoint.attempt, step=999, removed_at=checkpoint.saved_at)
    path = f"/projects/{checkpoint.project.slug}/checkpoints/"
    first = viewer.get(path)
    assert (len(first.context["checkpoints"]), first.context["page"].paginator.count) == (25, 29)
    assert "And 1 that training deleted" in first.content.decode()
    assert len(viewer.get(path, {"page": "2"}).context["checkpoints"]) == 4
    assert viewer.get(path, {"page": "2"}).context["topics"].startswith("nav/")
    assert viewer.get(path, {"deleted": "1"}).context["page"].paginator.count == 30


def test_order_and_filter_stand_in_the_address(
    viewer: Client, checkpoint: Checkpoint, django_assert_max_num_queries: object
) -> None:
    other = factories.checkpoint(checkpoint.attempt, step=200, metrics={"accept_length": 9.0})
    path = f"/projects/{checkpoint.project.slug}/checkpoints/"
    for query, found in (
        ({"sort": "-accept"}, [other, checkpoint]),
        ({"sort": "accept"}, [checkpoint, other]),
        ({"review": "approved"}, [checkpoint]),
        ({"review": "none"}, [other]),
        ({"sort": "nonsense", "review": "nonsense"}, [other, checkpoint]),
    ):
        with django_assert_max_num_queries(26):  # type: ignore[operator]
            answer = viewer.get(path, query)
        assert [shown.row for shown in answer.context["checkpoints"]] == found
    html = viewer.get(path, {"sort": "-accept", "review": "approved"}).content.decode()
    assert ("?review=approved&amp;sort=accept" in html, 'aria-sort="descending"' in html) == (True, True)
    assert "No checkpoint is like this" in viewer.get(path, {"review": "rejected"}).content.decode()


def test_page_with_a_long_talk_asks_a_bounded_number_of_questions(
    viewer: Client, checkpoint: Checkpoint, django_assert_max_num_queries: object
) -> None:
    for number in range(30):
        factories.comment(checkpoint, f"remark {number}", author=factories.user())
        factories.review(checkpoint, author=factories.user())
    with django_assert_max_num_queries(34):  # type: ignore[operator]
        assert viewer.get(f"/checkpoints/{checkpoint.pk}/").status_code == 200


def test_address_without_a_project_leads_to_the_last_one(viewer: Client, checkpoint: Checkpoint) -> None:
    assert viewer.get("/checkpoints/").headers["Location"] == f"/projects/{checkpoint.project.slug}/checkpoints/"


def test_empty_list_says_what_makes_checkpoints(viewer: Client) -> None:
    project = factories.project()
    assert "No checkpoint yet" in viewer.get(f"/projects/{project.slug}/checkpoints/").content.decode()


def test_a_deleted_checkpoint_offers_no_command(promoter: Client, checkpoint: Checkpoint) -> None:
    path = f"/checkpoints/{checkpoint.pk}/"
    assert "sglang.launch_server" in promoter.get(path).content.decode()
    Checkpoint.objects.update(removed_at=checkpoint.saved_at)
    html = promoter.get(path).content.decode()
    assert ("sglang.launch_server" in html, "nothing left to serve" in html) == (False, True)
