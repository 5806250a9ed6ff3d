from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import Settings

from eagle3web.domain.people import issue_token
from eagle3web.middleware import PERMISSIONS, chosen_zone
from tests.support import factories as make

pytestmark = pytest.mark.django_db
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": PERMISSIONS,
}


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


def test_a_program_that_calls_too_often_is_told_when_to_come_back(settings: Settings) -> None:
    settings.EAGLE3_API_RATE = 3
    token = issue_token(make.user(permissions=("view_run",)), "test")
    program = Client(headers={"authorization": f"Bearer {token}"})
    answers = [program.get("/api/me") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 15 <= int(answers[3].headers["Retry-After"]) <= 20
    assert answers[3].json()["detail"].startswith("Too many requests; the next one is taken in ")
    other = issue_token(make.user(), "test")
    assert program.get("/api/me", headers={"authorization": f"Bearer {other}"}).status_code == 200


def test_made_up_tokens_are_limited_by_address(settings: Settings) -> None:
    settings.EAGLE3_API_RATE = 1
    guesser = Client()
    codes = [guesser.get("/api/me", headers={"authorization": f"Bearer e3_{n}"}).status_code for n in range(11)]
    assert codes == [401] * 10 + [429]
    assert guesser.get("/api/me", REMOTE_ADDR="10.0.0.9").status_code == 401


def test_a_signed_in_browser_has_a_rate_of_its_own(settings: Settings) -> None:
    settings.EAGLE3_API_RATE = 2
    browser = Client()
    browser.force_login(make.user(permissions=("view_run",)))
    assert [browser.get("/api/me").status_code for _ in range(3)] == [200, 200, 429]
    assert browser.get("/me/").status_code == 200


def test_one_address_cannot_try_one_name_after_the_other(settings: Settings) -> None:
    settings.EAGLE3_SIGN_IN_RATE = 3
    guesser = Client()
    answers = [guesser.post("/sign-in/", {"username": f"name-{n}", "password": "x"}) for n in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 15 <= int(answers[3].headers["Retry-After"]) <= 20
    assert "tried to sign in from this address" in answers[3].content.decode()
    assert guesser.post("/sign-in/link/x").status_code == 429
    assert guesser.get("/sign-in/").status_code == 200
    assert guesser.post("/sign-in/", {}, REMOTE_ADDR="10.0.0.9").status_code == 200


@pytest.mark.parametrize("path", ["/sign-in/", "/me/", "/api/me", "/nowhere/"])
def test_every_answer_tells_the_browser_what_it_may_do(path: str) -> None:
    client = Client()
    client.force_login(make.user())
    headers = client.get(path).headers
    assert {name: headers.get(name) for name in HEADERS} == HEADERS
    policy = headers["Content-Security-Policy"]
    assert ("script-src 'self';" in f"{policy};", "unsafe" in policy) == (True, False)
    assert {"no-cache", "private"} <= {word.strip() for word in headers["Cache-Control"].split(",")}
