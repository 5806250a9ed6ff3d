"""The first account, one-time links, and tokens that are shown once."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from eagle3web.domain import people
from eagle3web.enums import TokenScope
from eagle3web.models import ApiToken, AuditEntry, User
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def owner_of(token: str) -> User | None:
    found = people.find_token(token)
    return found.user if found else None


def link_token(user: User) -> str:
    return people.make_sign_in_link(user).rstrip("/").rsplit("/", 1)[-1]


def test_first_admin_is_made_once() -> None:
    created = people.create_first_admin()
    assert created is not None
    username, password = created
    user = User.objects.get()
    assert (username, user.is_superuser, user.is_staff, user.check_password(password)) == ("admin", True, True, True)
    assert people.create_first_admin() is None


def test_first_admin_is_not_made_beside_other_people() -> None:
    make.user()
    assert people.create_first_admin() is None


def test_first_admin_is_made_beside_an_account_without_a_password() -> None:
    demo = make.user("demo")
    demo.set_unusable_password()
    demo.save()
    assert people.create_first_admin() is not None


def test_sign_in_link_works_once() -> None:
    user = make.user("ada")
    token = link_token(user)
    assert people.redeem_sign_in_link(token) == user
    assert people.redeem_sign_in_link(token) is None


def test_sign_in_link_dies_with_any_sign_in_even_in_the_same_second() -> None:
    moment = timezone.now().replace(microsecond=1)
    user = make.user("ada", last_login=moment)
    token = link_token(user)
    User.objects.filter(pk=user.pk).update(last_login=moment.replace(microsecond=2))
    assert people.redeem_sign_in_link(token) is None


def test_sign_in_link_dies_of_age(monkeypatch: pytest.MonkeyPatch) -> None:
    token = link_token(make.user("ada"))
    late = datetime.now() + people.LINK_LIFETIME + timedelta(seconds=2)  # noqa: DTZ005  (Django's generator uses naive local time)
    monkeypatch.setattr(people.LinkTokens, "_now", lambda self: late)
    assert people.redeem_sign_in_link(token) is None


def test_sign_in_link_of_an_inactive_person_is_refused() -> None:
    user = make.user("ada")
    token = link_token(user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert people.redeem_sign_in_link(token) is None


@pytest.mark.parametrize(
    "token", ["", ".", "x", "MQ.", "MQ.a-b", "é.è", "MQ.c9mxyz-0000", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5.a-b", "\x00.\x00"]
)
def test_forged_sign_in_link_is_refused(token: str) -> None:
    make.user()
    assert people.redeem_sign_in_link(token) is None


def test_link_of_one_person_does_not_sign_in_another() -> None:
    ada, ben = make.user("ada"), make.user("ben")
    mine, his = link_token(ada), link_token(ben)
    assert people.redeem_sign_in_link(f"{his.split('.')[0]}.{mine.split('.')[1]}") is None


def test_token_is_stored_as_a_hash_and_finds_its_owner() -> None:
    user = make.user("ada")
    token = people.issue_token(user, "nightly", by=user)
    row = ApiToken.objects.get()
    assert owner_of(token) == user
    assert token not in str([*ApiToken.objects.values(), *AuditEntry.objects.values()])
    assert (row.name, row.prefix, len(row.digest)) == ("nightly", token[:8], 64)
    assert AuditEntry.objects.get().verb == "token.issue"


def test_token_use_is_noted_at_most_once_a_minute() -> None:
    token = people.issue_token(make.user(), "nightly")
    owner_of(token)
    first = ApiToken.objects.get().last_used_at
    owner_of(token)
    assert first is not None
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    owner_of(token)
    used = ApiToken.objects.get().last_used_at
    assert used is not None
    assert used >= first


def test_expired_and_unknown_tokens_and_those_of_inactive_people_find_nobody() -> None:
    user = make.user()
    expired = people.issue_token(user, "old", timezone.now() - timedelta(seconds=1))
    valid = people.issue_token(user, "new", timezone.now() + timedelta(days=1))
    assert owner_of(expired) is None
    assert owner_of(valid + "x") is None
    assert owner_of("\ud800") is None
    assert owner_of(valid) == user
    User.objects.update(is_active=False)
    assert owner_of(valid) is None


def test_token_keeps_its_scopes_and_is_revoked_with_a_trace() -> None:
    ada = make.user("ada")
    token = people.issue_token(ada, "nightly", scopes=[TokenScope.READ], by=ada)
    found = people.find_token(token)
    assert found is not None
    assert found.scopes == ["read"]
    people.revoke_token(found, by=ada)
    assert people.find_token(token) is None
    assert AuditEntry.objects.get(verb="token.revoke").detail == {"owner": "ada", "name": "nightly", "prefix": token[:8]}


def test_time_zone_is_one_that_there_is() -> None:
    ada = make.user("ada", time_zone="UTC")
    people.set_time_zone(ada, "Asia/Tokyo")
    with pytest.raises(ValueError, match="Moon"):
        people.set_time_zone(ada, "Moon/Sea")
    people.set_time_zone(ada, "")
    assert User.objects.get().time_zone == ""
    assert [entry.detail["changes"]["time_zone"] for entry in AuditEntry.objects.order_by("id")] == [
        ["UTC", "Asia/Tokyo"], ["Asia/Tokyo", ""],
    ]  # fmt: skip


def test_password_is_changed_with_a_trace_that_holds_none() -> None:
    ada = make.user("ada")
    people.change_password(ada, "another horse entirely")
    assert User.objects.get().check_password("another horse entirely")
    assert AuditEntry.objects.get().detail == {"username": "ada"}
