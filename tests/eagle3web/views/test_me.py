"""A person's own page."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from eagle3web.domain.people import find_token, issue_token
from eagle3web.enums import Role
from eagle3web.models import ApiToken, AuditEntry, User
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def ada() -> User:
    return make.user("ada", groups=(Role.OPERATOR,))


@pytest.fixture
def client(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def test_page_shows_what_is_ones_own_in_few_queries(client: Client, ada: User, django_assert_max_num_queries: object) -> None:
    issue_token(ada, "nightly", timezone.now() - timedelta(days=1), scopes=["read"])
    issue_token(make.user("ben"), "his")
    make.notification(make.channel(ada, name="slack"), subject="r1 failed", error="no answer")
    make.channel(make.user("cleo"), name="hers")
    with django_assert_max_num_queries(24):  # type: ignore[operator]
        html = client.get("/me/").content.decode()
    assert ("nightly" in html, "expired" in html, "slack" in html, "r1 failed" in html) == (True, True, True, True)
    assert ("his<" in html, "hers" in html) == (False, False)


def test_time_zone_is_chosen_from_those_that_there_are(client: Client) -> None:
    assert client.post("/me/time-zone/", {"time_zone": "Europe/Madrid"}).status_code == 302
    assert User.objects.get().time_zone == "Europe/Madrid"
    assert re.search(r"Now it is [\d: -]+ <span data-zone-name>CES?T", client.get("/me/").content.decode())
    assert client.post("/me/time-zone/", {"time_zone": "Moon/Sea"}).status_code == 422
    client.post("/me/time-zone/", {"time_zone": ""})
    assert User.objects.get().time_zone == ""


def test_new_password_ends_every_other_session(client: Client, ada: User) -> None:
    other = Client()
    other.force_login(ada)
    key = client.session.session_key
    new = "another horse entirely"
    fields = {"old_password": make.PASSWORD, "new_password1": new, "new_password2": new}
    assert client.post("/me/password/", fields | {"old_password": "wrong"}).status_code == 422
    assert client.post("/me/password/", fields).headers["Location"] == "/me/"
    assert (client.get("/me/").status_code, other.get("/me/").status_code) == (200, 302)
    assert client.session.session_key != key
    assert AuditEntry.objects.get().verb == "person.password"
    assert new not in str(AuditEntry.objects.values())


def test_token_is_shown_once_and_good_for_what_was_chosen(client: Client, ada: User) -> None:
    answer = client.post("/me/tokens/", {"name": "nightly", "scopes": ["read"], "days": "7"})
    found = re.search(r'<pre class="command" id="token"[^>]*>(e3_\S+)</pre>', answer.content.decode())
    assert found
    assert "no-store" in answer.headers["Cache-Control"]
    token = find_token(found[1])
    assert token is not None
    assert (token.user, token.scopes) == (ada, ["read"])
    assert token.expires_at is not None
    assert token.expires_at < timezone.now() + timedelta(days=7, seconds=1)
    assert found[1] not in client.get("/me/").content.decode()


def test_token_without_a_scope_is_not_made(client: Client) -> None:
    answer = client.post("/me/tokens/", {"name": "nightly", "days": "7"})
    assert (answer.status_code, "Choose what the token is good for." in answer.content.decode()) == (422, True)
    assert ApiToken.objects.count() == 0


def test_own_token_is_revoked_and_anothers_is_not_found(client: Client, ada: User) -> None:
    mine, his = (issue_token(user, "nightly") for user in (ada, make.user("ben")))
    pk, other = ApiToken.objects.get(user=ada).pk, ApiToken.objects.exclude(user=ada).get().pk
    assert "is refused from now on" in client.get(f"/me/tokens/{pk}/revoke/").content.decode()
    assert client.post(f"/me/tokens/{pk}/revoke/").headers["Location"] == "/me/"
    assert client.post(f"/me/tokens/{other}/revoke/").status_code == 404
    assert (find_token(mine), find_token(his) is None) == (None, False)


def test_person_without_a_role_has_a_page_that_tells_of_no_project() -> None:
    make.project(name="Secret drafter")
    client = Client()
    client.force_login(make.user("eve"))
    html = client.get("/me/").content.decode()
    assert ("no role yet" in html, "Secret drafter" in html) == (True, False)


@pytest.mark.parametrize("path", ["time-zone/", "tokens/"])
def test_changes_take_no_get(client: Client, path: str) -> None:
    assert client.get(f"/me/{path}").status_code == 405
