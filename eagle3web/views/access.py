"""Who may see a view. Signing in is middleware's work; rights are checked here, and once more at each act."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import permission_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from eagle3web.models import User
from eagle3web.pages.rights import LOOK

View = Callable[..., HttpResponseBase]


def allowed(*codenames: str) -> Callable[[View], View]:
    """Let in whoever has all these permissions; 403 for everybody else."""
    check: Any = permission_required([f"eagle3web.{codename}" for codename in codenames], raise_exception=True)
    decorated: Callable[[View], View] = check
    return decorated


looking = allowed(LOOK)
"""Let in whoever may look at the pages."""


def person(request: HttpRequest) -> User:
    """Whoever asks. Raises PermissionDenied for somebody who is not signed in."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
