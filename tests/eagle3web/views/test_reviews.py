import json

import pytest
from django.test import Client

from eagle3web.enums import Review
from eagle3web.models import Checkpoint
from tests.eagle3web.views.conftest import client_of
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def checkpoint() -> Checkpoint:
    return factories.checkpoint(step=100, folder=True)


def test_proposing_asks_says_and_shows_what_was_said(operator: Client, checkpoint: Checkpoint) -> None:
    path = f"/checkpoints/{checkpoint.pk}/propose/"
    assert "Others see it as proposed" in operator.get(path, headers=HTMX).content.decode()
    answer = operator.post(path, {"note": "<b>try it</b>"}, headers=HTMX)
    assert json.loads(answer.headers["HX-Trigger"]) == {"done": {"title": f"{checkpoint} is proposed"}}
    html = operator.get(f"/checkpoints/{checkpoint.pk}/").content.decode()
    assert "&lt;b&gt;try it&lt;/b&gt;" in html
    assert ("Propose…" in html, "Approve…" in html, "Reject…" in html) == (False, True, True)


def test_two_people_approve_and_one_alone_is_told_why_not(operator: Client, checkpoint: Checkpoint) -> None:
    other = client_of("view_run", "change_checkpoint")
    operator.post(f"/checkpoints/{checkpoint.pk}/propose/")
    refused = operator.post(f"/checkpoints/{checkpoint.pk}/approve/", headers=HTMX)
    assert (refused.status_code, "somebody else has to approve it" in refused.content.decode()) == (409, True)
    answer = other.post(f"/checkpoints/{checkpoint.pk}/approve/")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/checkpoints/{checkpoint.pk}/")
    assert Checkpoint.objects.get().review == Review.APPROVED


def test_rejection_asks_for_a_reason(operator: Client, checkpoint: Checkpoint) -> None:
    operator.post(f"/checkpoints/{checkpoint.pk}/propose/")
    answer = operator.post(f"/checkpoints/{checkpoint.pk}/reject/", {"note": ""}, headers=HTMX)
    assert (answer.status_code, "Say why." in answer.content.decode()) == (422, True)
    operator.post(f"/checkpoints/{checkpoint.pk}/reject/", {"note": "slow"})
    assert Checkpoint.objects.get().review == Review.REJECTED


def test_only_operator_is_told_that_it_is_theirs_to_approve(checkpoint: Checkpoint) -> None:
    alone = client_of("view_run", "change_checkpoint")
    alone.post(f"/checkpoints/{checkpoint.pk}/propose/")
    path = f"/checkpoints/{checkpoint.pk}/approve/"
    assert "Nobody else may review" in alone.get(path, headers=HTMX).content.decode()
    assert alone.post(path, headers=HTMX).status_code == 204


@pytest.mark.parametrize("act", ["propose", "approve", "reject"])
def test_viewer_may_not_review(viewer: Client, checkpoint: Checkpoint, act: str) -> None:
    assert viewer.post(f"/checkpoints/{checkpoint.pk}/{act}/").status_code == 403
    assert viewer.delete(f"/checkpoints/{checkpoint.pk}/{act}/").status_code == 405
    html = viewer.get(f"/checkpoints/{checkpoint.pk}/").content.decode()
    assert "Propose…" not in html
    assert "An operator can propose it." in html
