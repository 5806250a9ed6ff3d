import pytest

from eagle3web.models import Checkpoint
from tests.support import factories as make
from tests.support.api import caller

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


def test_two_people_review_and_the_words_are_listed() -> None:
    row, ope, pal = make.checkpoint(), caller("ope", "operator"), caller("pal", "operator")
    path = f"/api/checkpoints/{row.pk}"
    assert ope.post(f"{path}/propose", {"note": "good"}).json()["state"] == "proposed"
    refused = ope.post(f"{path}/approve")
    assert (refused.status_code, "somebody else" in refused.json()["detail"]) == (409, True)
    assert pal.post(f"{path}/approve").json()["author"] == "pal"
    assert pal.post(f"{path}/reject", {"note": " "}).status_code == 422
    assert pal.post(f"{path}/reject").status_code == 422
    assert pal.post(f"{path}/reject", {"note": "slow"}).status_code == 200
    said = ope.get(f"{path}/reviews").json()
    assert [(word["state"], word["note"]) for word in said["items"]] == [
        ("rejected", "slow"),
        ("approved", ""),
        ("proposed", "good"),
    ]
    assert Checkpoint.objects.get().review == "rejected"


def test_viewer_reads_and_does_not_review() -> None:
    row, viewer = make.checkpoint(), caller("vic", "viewer")
    assert viewer.get(f"/api/checkpoints/{row.pk}/reviews").json()["count"] == 0
    assert viewer.post(f"/api/checkpoints/{row.pk}/propose").status_code == 403
    assert viewer.get("/api/checkpoints/999/reviews").status_code == 404
