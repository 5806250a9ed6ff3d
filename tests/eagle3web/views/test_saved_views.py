import pytest
from django.test import Client

from eagle3web.models import SavedView
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_view_is_saved_and_leads_back_to_the_list(viewer: Client) -> None:
    project = factories.project(slug="p")
    answer = viewer.post("/projects/p/views/", {"name": "mine", "query": "state=live&page=3&q="})
    assert answer.headers["Location"] == "/projects/p/runs/?state=live"
    view = SavedView.objects.get()
    assert (view.project, view.name, view.query, view.shared) == (project, "mine", "state=live", False)
    html = viewer.get("/projects/p/runs/?state=live").content.decode()
    assert 'href="/projects/p/runs/?state=live" aria-current="true">mine' in html


def test_only_who_may_change_runs_shares_a_view(viewer: Client, operator: Client) -> None:
    factories.project(slug="p")
    fields = {"name": "ours", "query": "", "shared": "1"}
    assert viewer.post("/projects/p/views/", fields).status_code == 403
    operator.post("/projects/p/views/", fields)
    assert "ours" in viewer.get("/projects/p/runs/").content.decode()


def test_others_see_shared_views_only_and_cannot_delete_them(viewer: Client) -> None:
    project, ada = factories.project(slug="p"), factories.user("ada")
    own = factories.saved_view(project, ada, name="secret")
    shared = factories.saved_view(project, ada, name="team", shared=True)
    html = viewer.get("/projects/p/runs/").content.decode()
    assert "secret" not in html
    assert "shared by ada" in html
    for view in (own, shared):
        assert viewer.post("/projects/p/views/", {"delete": view.pk}).status_code == 403
    assert SavedView.objects.count() == 2


def test_own_view_is_deleted(viewer: Client) -> None:
    factories.project(slug="p")
    viewer.post("/projects/p/views/", {"name": "mine", "query": ""})
    viewer.post("/projects/p/views/", {"delete": SavedView.objects.get().pk})
    assert not SavedView.objects.exists()
    assert viewer.post("/projects/p/views/", {"delete": "x"}).status_code == 404


def test_odd_name_saves_nothing(viewer: Client) -> None:
    factories.project(slug="p")
    assert viewer.post("/projects/p/views/", {"name": " "}).status_code == 302
    assert not SavedView.objects.exists()
