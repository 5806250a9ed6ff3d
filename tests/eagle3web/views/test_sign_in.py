import pytest
from django.test import Client

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
