"""How people and programs come in: the first account, one-time sign-in links, API tokens."""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from zoneinfo import available_timezones

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.http import base36_to_int, urlsafe_base64_decode, urlsafe_base64_encode

from eagle3web.domain.audit import record
from eagle3web.models import ApiToken, User

LINK_LIFETIME = timedelta(minutes=30)
TOKEN_PREFIX = "e3_"  # noqa: S105  (marks our tokens for secret scanners; it is no secret)
LAST_USE_STEP = timedelta(minutes=1)
"""`last_used_at` is as exact as this, so that a program that polls does not write at every request."""


def create_first_admin() -> tuple[str, str] | None:
    """Create the superuser `admin` where nobody can sign in with a password; `(username, password)`, or None if somebody can.

    The demo's account has no password, so that a system that began as a demo gets its administrator too.
    """
    if User.objects.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX).exists():
        return None
    password = secrets.token_urlsafe(12)
    try:
        with transaction.atomic():
            user = User.objects.create_superuser("admin", password=password)
            record(None, "person.create", user, username=user.username, superuser=True)
    except IntegrityError:  # two first starts at once: the other one shows its password
        return None
    return user.username, password


class LinkTokens(PasswordResetTokenGenerator):
    """Tokens that die with the next sign-in (the hash covers last_login, to the microsecond) or after LINK_LIFETIME."""

    key_salt = "eagle3web.sign-in-link"

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        return f"{user.pk}{user.password}{user.last_login}{timestamp}"

    def check_token(self, user: User | None, token: str | None) -> bool:
        if user is None or not super().check_token(user, token):
            return False
        made = base36_to_int(str(token).split("-", 1)[0])
        age: int = self._num_seconds(self._now()) - made
        return age <= LINK_LIFETIME.total_seconds()


_links = LinkTokens()


def make_sign_in_link(user: User) -> str:
    """Path of a page that signs `user` in once, within LINK_LIFETIME. Whoever has it is that person: show it to them only."""
    token = f"{urlsafe_base64_encode(str(user.pk).encode())}.{_links.make_token(user)}"
    return reverse("sign-in-link", args=[token])


def redeem_sign_in_link(token: str) -> User | None:
    """The person whom the link signs in; None when it is forged, used, too old, or its owner is not active any more.

    Redeeming moves last_login by compare-and-set, so that of two simultaneous clicks one wins.
    """
    key, _, rest = token.partition(".")
    try:
        user = User.objects.get(pk=int(urlsafe_base64_decode(key)), is_active=True)
    except (ValueError, OverflowError, User.DoesNotExist):
        return None
    if not _links.check_token(user, rest):
        return None
    now = timezone.now()
    if not User.objects.filter(pk=user.pk, last_login=user.last_login).update(last_login=now):
        return None
    user.last_login = now
    return user


def issue_token(
    user: User, name: str, expires: datetime | None = None, *, scopes: Iterable[str] = (), by: User | None = None
) -> str:
    """Make an API token that acts for `user`, within `scopes` (of enums.TokenScope; none: all that its owner may do).

    It is returned this once: only its SHA-256 is stored. An AuditEntry names `by`.
    """
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    kept = {"name": name, "prefix": token[:8], "scopes": list(scopes)}
    with transaction.atomic():
        row = ApiToken.objects.create(user=user, digest=_digest(token), expires_at=expires, **kept)
        record(by, "token.issue", row, owner=user.username, **kept)
    return token


def revoke_token(token: ApiToken, *, by: User) -> None:
    """Delete it: whoever uses it is refused from now on. An AuditEntry says what it was."""
    with transaction.atomic():
        record(by, "token.revoke", token, owner=token.user.username, name=token.name, prefix=token.prefix)
        token.delete()


def set_time_zone(user: User, zone: str) -> None:
    """The zone of every time that this person is shown; "" lets the browser decide. Raises ValueError for an unknown name."""
    if zone and zone not in available_timezones():
        raise ValueError(f"there is no time zone {zone!r}")
    with transaction.atomic():
        before, user.time_zone = user.time_zone, zone
        user.save(update_fields=["time_zone"])
        record(user, "person.time_zone", user, username=user.username, changes={"time_zone": [before, zone]})


def change_password(user: User, password: str) -> None:
    """Set one's own password; its form has judged it. Every other session of the person ends with its next request."""
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        record(user, "person.password", user, username=user.username)


def find_token(token: str) -> ApiToken | None:
    """A token that has not expired and whose owner is active, with its owner, or None. Notes the use."""
    now = timezone.now()
    valid = ApiToken.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), digest=_digest(token), user__is_active=True)
    row = valid.select_related("user").first()
    if row is None:
        return None
    if row.last_used_at is None or row.last_used_at < now - LAST_USE_STEP:
        ApiToken.objects.filter(pk=row.pk).update(last_used_at=now)
    return row


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
