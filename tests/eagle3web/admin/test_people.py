"""Accounts, roles and tokens in the admin."""

import re

import pytest
from django.contrib.auth.models import Group
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from eagle3web.domain.people import find_token
from eagle3web.enums import Role
from eagle3web.models import ApiToken, AuditEntry, User
from tests.support import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> Client:
    client = Client()
    client.force_login(make.user("root", is_staff=True, is_superuser=True))
    return client


def set_roles(root: Client, user: User, *roles: Role) -> None:
    fields = {"username": user.username, "is_active": "on", "groups": [Group.objects.get(name=role).pk for role in roles]}
    response = root.post(reverse("admin:eagle3web_user_change", args=[user.pk]), fields)
    assert response.status_code == 302, response.content.decode()


def test_role_decides_who_enters_the_admin(root: Client) -> None:
    user = make.user("ada")
    set_roles(root, user, Role.BUDGET_ADMIN)
    assert User.objects.get(pk=user.pk).is_staff
    set_roles(root, user, Role.VIEWER)
    assert not User.objects.get(pk=user.pk).is_staff
    entry = AuditEntry.objects.first()
    assert entry is not None
    assert (entry.verb, entry.detail["roles"]) == ("person.change", ["viewer"])


def test_token_is_shown_once_and_works(root: Client) -> None:
    ada = make.user("ada")
    response = root.post(reverse("admin:eagle3web_apitoken_add"), {"user": ada.pk, "name": "nightly"})
    assert response.status_code == 302, response.content.decode()
    (message,) = [str(message) for message in get_messages(response.wsgi_request)]
    found = re.search(r"The token is (\S+) —", message)
    assert found is not None
    token = find_token(found[1])
    assert token is not None
    assert token.user == ada
    assert found[1] not in root.get(reverse("admin:eagle3web_apitoken_changelist") + "?q=nightly").content.decode().replace(
        message, ""
    )


def test_token_is_revoked_with_a_trace(root: Client) -> None:
    token = ApiToken.objects.create(user=make.user("ada"), name="nightly", digest="0" * 64, prefix="e3_abcde")
    assert root.post(reverse("admin:eagle3web_apitoken_delete", args=[token.pk]), {"post": "yes"}).status_code == 302
    assert ApiToken.objects.count() == 0
    assert AuditEntry.objects.get(verb="token.revoke").detail["owner"] == "ada"


@pytest.mark.parametrize("role", list(Role))
def test_roles_do_not_reach_people_tokens_or_audit(role: Role) -> None:
    client = Client()
    client.force_login(make.user("eve", groups=(role,), is_staff=True))
    for model in ("user", "apitoken", "auditentry"):
        assert client.get(reverse(f"admin:eagle3web_{model}_changelist")).status_code == 403


def test_signed_out_visitor_is_sent_to_the_sites_own_page() -> None:
    response = Client().get(reverse("admin:login"))
    assert response.status_code == 302
    assert reverse("admin:login") not in response["Location"].partition("?")[0]
