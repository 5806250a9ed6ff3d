import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from eagle3web.domain import saved_views
from eagle3web.models import AuditEntry, SavedView
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_view_of_the_same_name_is_replaced() -> None:
    project, ada, bob = factories.project(), factories.user(), factories.user()
    first = saved_views.save(project, name=" live  runs ", query="state=live", shared=False, user=ada)
    again = saved_views.save(project, name="live runs", query="state=live&sort=-loss", shared=True, user=ada)
    assert first.pk == again.pk
    assert SavedView.objects.get().query == "state=live&sort=-loss"
    saved_views.save(project, name="live runs", query="", shared=False, user=bob)
    assert SavedView.objects.count() == 2
    assert AuditEntry.objects.filter(verb="view.save").count() == 3


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "bell\x07"])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        saved_views.save(factories.project(), name=name, query="", shared=False, user=factories.user())


def test_one_person_has_a_limited_number_of_views() -> None:
    project, ada = factories.project(), factories.user()
    for n in range(saved_views.OWN_VIEWS):
        factories.saved_view(project, ada, name=str(n))
    saved_views.save(project, name="0", query="", shared=False, user=ada)
    with pytest.raises(ValidationError, match="50 views"):
        saved_views.save(project, name="new", query="", shared=False, user=ada)


def test_only_the_owner_deletes_a_view() -> None:
    project, ada = factories.project(), factories.user()
    view = factories.saved_view(project, ada)
    with pytest.raises(PermissionDenied):
        saved_views.delete(view, user=factories.user())
    saved_views.delete(view, user=ada)
    other = factories.saved_view(project, ada)
    saved_views.delete(other, user=factories.user(is_superuser=True))
    assert not SavedView.objects.exists()
