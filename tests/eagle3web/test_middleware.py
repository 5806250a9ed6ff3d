from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client, RequestFactory
from django.utils import timezone

from eagle3web.middleware import chosen_zone
from tests.support import factories as make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("zone", "found"), [("Asia/Tokyo", ZoneInfo("Asia/Tokyo")), ("", None), ("No/Where", None), ("../x", None)]
)
def test_zone_is_the_persons_where_this_machine_knows_it(rf: RequestFactory, zone: str, found: ZoneInfo | None) -> None:
    request = rf.get("/")
    request.user = make.user(time_zone=zone)
    assert chosen_zone(request) == found
    request.user = AnonymousUser()
    assert chosen_zone(request) is None


def test_pages_are_written_in_it_and_it_ends_with_the_request() -> None:
    client = Client()
    client.force_login(make.user(permissions=("view_run",), time_zone="Asia/Tokyo"))
    run = make.run(created_at=timezone.now())
    make.comment(run)
    html = client.get(f"/runs/{run.pk}/").content.decode()
    assert " JST</time>" in html
    assert 'data-zone="Asia/Tokyo"' in html
    assert timezone.get_current_timezone_name() == "UTC"
