import pytest

from eagle3web.models import Checkpoint
from tests.support import factories as make
from tests.support.api import Caller, caller

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def api() -> Caller:
    return caller("ope", "operator")


def test_checkpoints_are_filtered_by_project_run_and_promotion(api: Caller) -> None:
    first = make.checkpoint(promoted=True)
    second = make.checkpoint(first.attempt)
    make.checkpoint()

    def ids(**query: object) -> list[int]:
        return [row["id"] for row in api.get("/api/checkpoints", **query).json()["items"]]

    assert len(ids()) == 3
    assert ids(project=first.project.slug) == [second.pk, first.pk]
    assert ids(run=first.run_id, promoted=True) == [first.pk]
    Checkpoint.objects.filter(pk=second.pk).update(review="approved")
    assert ids(review="approved") == [second.pk]
    assert len(ids(review="")) == 2


def test_one_checkpoint_says_how_to_serve_it(api: Caller) -> None:
    row = make.checkpoint(card="# Drafter")
    body = api.get(f"/api/checkpoints/{row.pk}").json()
    assert (body["run"], body["project"], body["host"], body["card"]) == (row.run_id, row.project.slug, "gpu-07", "# Drafter")
    assert "--speculative-num-steps 3" in body["launch_command"]
    attempt = make.attempt(make.run(stage="benchmark"))
    make.result(attempt, "drafter", shape="5/1/6", checkpoint=row)
    assert "--speculative-num-steps 5" in api.get(f"/api/checkpoints/{row.pk}").json()["launch_command"]


def test_promotion_moves_and_is_refused_for_deleted_files(api: Caller) -> None:
    first = make.checkpoint(promoted=True)
    second = make.checkpoint(first.attempt)
    refused = api.post(f"/api/checkpoints/{second.pk}/promote")
    assert (refused.status_code, "not approved" in refused.json()["detail"]) == (409, True)
    assert api.post(f"/api/checkpoints/{second.pk}/promote", {"anyway": True}).json()["promoted"] is True
    assert list(Checkpoint.objects.filter(promoted=True)) == [second]
    Checkpoint.objects.filter(pk=first.pk).update(removed_at=first.saved_at)
    answer = api.post(f"/api/checkpoints/{first.pk}/promote")
    assert (answer.status_code, "were deleted" in answer.json()["detail"]) == (409, True)


def test_unknown_checkpoint_is_404(api: Caller) -> None:
    assert api.get("/api/checkpoints/99").status_code == 404
    assert api.post("/api/checkpoints/99/promote").status_code == 404
