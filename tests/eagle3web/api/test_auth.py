"""Tokens and sessions: who gets in, and what stops them."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from eagle3web.domain.people import issue_token
from eagle3web.enums import Role
from eagle3web.models import User
from tests.support import factories as make
from tests.support.api import caller

pytestmark = pytest.mark.django_db


def browser(user: User) -> Client:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    return client


def test_token_acts_for_its_owner() -> None:
    answer = caller("ada", Role.OPERATOR).get("/api/me").json()
    assert (answer["username"], answer["roles"]) == ("ada", ["operator"])
    assert "change_run" in answer["permissions"]
    assert "change_tokenbudget" not in answer["permissions"]


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Bearer e3_wrong", "Basic YWRhOnB3", "Bearer \xff\xfe", "bearer " + "x" * 5000]
)
def test_wrong_token_is_401_with_the_scheme_to_use(header: str) -> None:
    answer = Client(headers={"authorization": header}).get("/api/me")
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert "Authorization: Bearer" in answer.json()["detail"]


def test_expired_token_is_401() -> None:
    token = issue_token(make.user(), "old", timezone.now() - timedelta(days=1))
    assert Client(headers={"authorization": f"Bearer {token}"}).get("/api/me").status_code == 401


def test_wrong_token_is_not_saved_by_a_session() -> None:
    client = browser(make.user(groups=(Role.VIEWER,)))
    assert client.get("/api/me").status_code == 200
    assert client.get("/api/me", headers={"authorization": "Bearer e3_wrong"}).status_code == 401


def test_session_changes_nothing_without_a_csrf_token() -> None:
    user, budget = make.user(groups=(Role.BUDGET_ADMIN,)), make.budget(tokens=10)
    client = browser(user)
    body = {"version": 1, "tokens": 5}
    path = f"/api/budgets/{budget.pk}"
    answer = client.patch(path, body, content_type="application/json")
    assert (answer.status_code, answer.json()) == (403, {"detail": "The CSRF token is missing or wrong."})
    client.cookies["csrftoken"] = "a" * 32
    assert client.patch(path, body, content_type="application/json", headers={"x-csrftoken": "a" * 32}).status_code == 200


def test_lacking_permission_is_403_that_names_it_before_the_body_is_read() -> None:
    budget = make.budget()
    answer = caller("eve", Role.VIEWER).patch(f"/api/budgets/{budget.pk}", {"nonsense": 1})
    assert answer.status_code == 403
    assert "change_tokenbudget" in answer.json()["detail"]


def test_answers_carry_no_mail_addresses_or_password_hashes() -> None:
    author = make.user("ada", email="ada@example.org")
    run = make.run(author=author)
    attempt = make.attempt(run)
    api = caller("ben", Role.VIEWER)
    pages = ("runs", f"runs/{run.pk}", f"attempts/{attempt.pk}", "projects", "datasets", "engines", "me")
    text = "".join(api.get(f"/api/{page}").content.decode() for page in pages)
    assert "ada" in text
    assert "example.org" not in text
    assert "md5$" not in text


def call(token: str, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401  (a test response)
    client = Client(headers={"authorization": f"Bearer {token}"})
    return client.generic(method, path, json.dumps(body) if body is not None else "", content_type="application/json")


def test_scopes_bound_what_a_token_does_within_its_owners_rights() -> None:
    user = make.user(groups=(Role.OPERATOR, Role.BUDGET_ADMIN))
    budget, run = make.budget(tokens=10), make.run(status="stopped")
    acts = {
        "read": ("GET", "/api/runs", None),
        "operate": ("POST", f"/api/runs/{run.pk}/comments", {"text": "hello"}),
        "budgets": ("PATCH", f"/api/budgets/{budget.pk}", {"version": 1, "tokens": 20}),
    }
    for scope in acts:
        token = issue_token(user, "t", scopes=[scope])
        found = {name: call(token, *act).status_code for name, act in acts.items()}
        assert {name for name, status in found.items() if status < 300} == {scope}
        assert {status for status in found.values() if status >= 300} == {403}


def test_missing_scope_is_named() -> None:
    token = issue_token(make.user(groups=(Role.BUDGET_ADMIN,)), "nightly", scopes=["read", "operate"])
    answer = call(token, "PATCH", f"/api/budgets/{make.budget().pk}", {"version": 1})
    assert answer.json()["detail"] == (
        "This needs a token with the scope budgets; the token “nightly” is good for read, operate only."
    )


def test_a_scope_gives_nothing_that_the_owner_may_not_do() -> None:
    token = issue_token(make.user(groups=(Role.VIEWER,)), "t", scopes=["read", "operate", "budgets"])
    answer = call(token, "PATCH", f"/api/budgets/{make.budget().pk}", {"version": 1})
    assert (answer.status_code, "change_tokenbudget" in answer.json()["detail"]) == (403, True)
