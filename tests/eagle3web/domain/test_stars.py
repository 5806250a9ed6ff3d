import pytest

from eagle3web.domain import stars
from eagle3web.models import Star
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_star_is_one_persons_and_is_set_once() -> None:
    run, ada, bob = factories.run(), factories.user(), factories.user()
    assert stars.star(run, user=ada)
    assert not stars.star(run, user=ada)
    assert stars.star(run, user=bob)
    assert stars.unstar(run, user=ada)
    assert not stars.unstar(run, user=ada)
    assert Star.objects.get().user == bob
