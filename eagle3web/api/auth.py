"""Who calls, and whether they may. Both are decided before the request's body is read."""

from typing import Any

from django.http import HttpRequest
from ninja.errors import AuthorizationError
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from eagle3web.domain.people import find_token
from eagle3web.domain.roles import BUDGET as BUDGET_PERMISSIONS
from eagle3web.enums import TokenScope
from eagle3web.models import ApiToken, User


class TokenAuth(HttpBearer):
    """`Authorization: Bearer TOKEN`, for programs. A browser cannot be tricked into sending it, so it needs no CSRF token."""

    def __init__(self, permission: str | None, *, changes_nothing: bool = False) -> None:
        super().__init__()
        self.permission = permission
        self._changes_nothing = changes_nothing

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        found = find_token(token.strip())
        if found is None:
            return None
        request.user = found.user
        method = "GET" if self._changes_nothing else request.method or ""
        require_scope(found, needed_scope(method, self.permission))
        require(found.user, self.permission)
        return found.user


class SessionAuth(APIKeyCookie):
    """The session of a signed-in browser, with the CSRF token in `X-CSRFToken` for everything that changes something."""

    param_name = "sessionid"

    def __init__(self, permission: str | None) -> None:
        super().__init__()
        self.permission = permission

    def __call__(self, request: HttpRequest) -> User | None:
        # A request that carries a token is judged by the token alone.
        if "Authorization" in request.headers or not isinstance(request.user, User):
            return None
        if check_csrf(request) is not None:
            raise AuthorizationError(message="The CSRF token is missing or wrong.")
        return self.authenticate(request, None)

    def authenticate(self, request: HttpRequest, key: str | None) -> User | None:
        user = user_of(request)
        require(user, self.permission)
        return user


def may(permission: str | None, *, changes_nothing: bool = False) -> list[Any]:
    """`auth=` of an operation: signed in, and holding the app's `permission` (a codename; None: every signed-in person).

    `changes_nothing`: a question that needs a body; a token that may only read may ask it.
    """
    return [TokenAuth(permission, changes_nothing=changes_nothing), SessionAuth(permission)]


def needed_scope(method: str, permission: str | None) -> TokenScope:
    """What a token must be good for: looking is `read`, changing budgets `budgets`, changing anything else `operate`."""
    if method in ("GET", "HEAD", "OPTIONS"):
        return TokenScope.READ
    return TokenScope.BUDGETS if permission in BUDGET_PERMISSIONS else TokenScope.OPERATE


def require_scope(token: ApiToken, scope: TokenScope) -> None:
    """Raise the 403 that names the scope which the token lacks. A token without scopes has all."""
    if token.scopes and scope not in token.scopes:
        good_for = ", ".join(token.scopes)
        raise AuthorizationError(
            message=f"This needs a token with the scope {scope}; the token “{token.name}” is good for {good_for} only."
        )


def require(user: User, permission: str | None) -> None:
    """Raise the 403 that names what is missing."""
    if permission is not None and not user.has_perm(f"eagle3web.{permission}"):
        raise AuthorizationError(
            message=f"This needs the permission {permission}; ask an administrator for a role that has it."
        )


def user_of(request: HttpRequest) -> User:
    """The person behind an authenticated request."""
    assert isinstance(request.user, User)  # noqa: S101  (authentication came first; this tells the type checker)
    return request.user
