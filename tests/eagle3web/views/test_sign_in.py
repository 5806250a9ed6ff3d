from datetime import datetime, timedelta

import pytest
from axes.models import AccessAttempt
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from eagle3web.domain.people import make_sign_in_link
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_person_signs_in_with_a_password_and_comes_to_where_they_wanted() -> None:
    factories.user("ada", permissions=("view_run",))
    client = Client()
    assert client.get("/engines/").headers["Location"] == "/sign-in/?next=/engines/"
    answer = client.post("/sign-in/", {"username": "ada", "password": factories.PASSWORD, "next": "/engines/"})
    assert answer.headers["Location"] == "/engines/"


def test_wrong_password_says_so_and_keeps_the_name() -> None:
    factories.user("ada")
    html = Client().post("/sign-in/", {"username": "ada", "password": "wrong"}).content.decode()
    assert "correct username and password" in html
    assert 'value="ada"' in html


def test_next_leads_to_no_other_site() -> None:
    factories.user("ada")
    fields = {"username": "ada", "password": factories.PASSWORD, "next": "https://elsewhere.example/"}
    assert Client().post("/sign-in/", fields).headers["Location"] == "/"


def test_link_signs_in_once() -> None:
    path = make_sign_in_link(factories.user("ada", permissions=("view_run",)))
    client = Client()
    assert client.get(path).status_code == 200
    assert client.get(path).status_code == 200  # whoever looks into links does not use it up
    assert client.post(path).headers["Location"] == "/"
    assert client.get("/engines/").status_code == 200
    refused = Client().post(path)
    assert refused.status_code == 410
    assert "does not work any more" in refused.content.decode()


def test_signing_out_ends_the_session() -> None:
    client = Client()
    client.force_login(factories.user(permissions=("view_run",)))
    assert client.post("/sign-out/").headers["Location"] == "/sign-in/"
    assert client.get("/engines/").status_code == 302


def wrong(client: Client, name: str = "ada") -> int:
    return client.post("/sign-in/", {"username": name, "password": "wrong"}).status_code


def test_too_many_wrong_passwords_wait_and_say_until_when(settings: Settings) -> None:
    factories.user("ada", permissions=("view_run",))
    client = Client()
    assert [wrong(client) for _ in range(settings.AXES_FAILURE_LIMIT)] == [200] * (settings.AXES_FAILURE_LIMIT - 1) + [429]
    refused = client.post("/sign-in/", {"username": "ada", "password": factories.PASSWORD})
    html = refused.content.decode()
    assert (refused.status_code, "Wait until <time" in html) == (429, True)
    until = datetime.fromisoformat(html.split('<time datetime="')[1].split('"')[0])
    assert timedelta(minutes=14) < until - timezone.now() <= timedelta(minutes=15)


def test_waiting_keeps_out_one_name_from_one_address(settings: Settings) -> None:
    factories.user("ada", permissions=("view_run",))
    factories.user("ben", permissions=("view_run",))
    client = Client()
    for _ in range(settings.AXES_FAILURE_LIMIT + 1):
        wrong(client)
    fields = {"username": "ada", "password": factories.PASSWORD}
    assert client.post("/sign-in/", fields).status_code == 429
    assert Client(REMOTE_ADDR="10.1.1.1").post("/sign-in/", fields).status_code == 302
    assert client.post("/sign-in/", fields | {"username": "ben"}).status_code == 302


def test_waiting_ends_by_itself_and_a_link_signs_in_meanwhile(settings: Settings) -> None:
    ada = factories.user("ada", permissions=("view_run",))
    client = Client()
    for _ in range(settings.AXES_FAILURE_LIMIT + 1):
        wrong(client)
    assert Client().post(make_sign_in_link(ada)).headers["Location"] == "/"
    AccessAttempt.objects.update(attempt_time=timezone.now() - settings.AXES_COOLOFF_TIME - timedelta(seconds=1))
    assert client.post("/sign-in/", {"username": "ada", "password": factories.PASSWORD}).status_code == 302


def test_signing_in_moves_the_session_to_a_new_key() -> None:
    factories.user("ada", permissions=("view_run",))
    client = Client()
    client.get("/sign-in/")
    session = client.session
    session["project"] = 7
    session.save()
    before = session.session_key
    client.post("/sign-in/", {"username": "ada", "password": factories.PASSWORD})
    assert client.session.session_key not in (None, before)


def test_wrong_passwords_are_not_kept() -> None:
    factories.user("ada")
    wrong(Client())
    assert "wrong" not in str(AccessAttempt.objects.values_list("get_data", "post_data"))


def test_a_link_does_not_sign_anybody_out() -> None:
    """A comment may link to /sign-out/: following it does nothing."""
    client = Client()
    client.force_login(factories.user(permissions=("view_run",)))
    assert client.get("/sign-out/").status_code == 405
    assert client.get("/engines/").status_code == 200


def test_acts_need_the_token_of_the_page() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(factories.user(permissions=("view_run",)))
    assert client.post("/sign-out/").status_code == 403
    assert client.post("/me/time-zone/", {"time_zone": "UTC"}).status_code == 403
    assert client.post("/sign-in/", {"username": "ada", "password": "x"}).status_code == 403
