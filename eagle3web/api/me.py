"""Who am I, and what may I do?"""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Out

router = Router(tags=["me"])


class MeOut(Out):
    username: str
    roles: list[str]
    permissions: list[str]
    """Codenames of the app, such as `change_run`."""


@router.get("", auth=may(None), response=MeOut)
def get_me(request: HttpRequest) -> dict[str, Any]:
    user = user_of(request)
    mine = sorted(name.partition(".")[2] for name in user.get_all_permissions() if name.startswith("eagle3web."))
    return {"username": user.username, "roles": sorted(user.groups.values_list("name", flat=True)), "permissions": mine}
