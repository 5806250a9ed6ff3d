import pytest

from eagle3web.enums import Role
from eagle3web.models import Run, Star
from tests.support import factories as make
from tests.support.api import caller

pytestmark = pytest.mark.django_db


def test_operator_changes_tags_notes_and_own_star() -> None:
    run = make.run(tags=["old"])
    api = caller("ada", Role.OPERATOR)
    body = api.patch(f"/api/runs/{run.pk}", {"tags": ["new", "b"], "notes": "loss spikes", "starred": True}).json()
    assert (body["tags"], body["notes"], body["starred"]) == (["new", "b"], "loss spikes", True)
    assert (Run.objects.get().notes, Star.objects.get().user) == ("loss spikes", api.user)
    assert api.patch(f"/api/runs/{run.pk}", {"starred": False}).json()["tags"] == ["new", "b"]
    assert not Star.objects.exists()


def test_viewer_stars_but_writes_nothing() -> None:
    run = make.run(tags=["old"])
    api = caller("ada", Role.VIEWER)
    assert api.patch(f"/api/runs/{run.pk}", {"starred": True}).json()["starred"] is True
    assert api.patch(f"/api/runs/{run.pk}", {"tags": []}).status_code == 403
    assert api.patch(f"/api/runs/{run.pk}", {"notes": "x"}).status_code == 403
    assert Run.objects.get().tags == ["old"]


@pytest.mark.parametrize("body", [{"tags": ["a,b"]}, {"tags": ["x" * 41]}, {"tags": "a"}, {"notes": "\0"}, {"title": "x"}])
def test_odd_bodies_change_nothing(body: dict[str, object]) -> None:
    run = make.run(tags=["old"])
    assert caller("ada", Role.OPERATOR).patch(f"/api/runs/{run.pk}", body).status_code == 422
    assert Run.objects.get().tags == ["old"]
