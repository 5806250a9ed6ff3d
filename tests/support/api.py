"""A program that calls the API with a token of its own."""

from typing import Any

from django.contrib.auth.models import Group
from django.test import Client

from eagle3web.domain.people import issue_token
from eagle3web.models import User
from tests.support import factories as make


class Caller:
    """JSON in and out, with `Authorization: Bearer`."""

    def __init__(self, user: User) -> None:
        self.user = user
        token = issue_token(user, "test")
        self._client = Client(headers={"authorization": f"Bearer {token}"}, enforce_csrf_checks=True)

    def get(self, path: str, **query: Any) -> Any:  # noqa: ANN401  (a test response)
        return self._client.get(path, query)

    def post(self, path: str, body: Any = None) -> Any:  # noqa: ANN401
        return self._client.post(path, body, content_type="application/json")

    def patch(self, path: str, body: Any) -> Any:  # noqa: ANN401
        return self._client.patch(path, body, content_type="application/json")


def caller(name: str = "", *roles: str) -> Caller:
    """Somebody with these roles, new or not, calling by token."""
    user = User.objects.filter(username=name).first() or make.user(name)
    user.groups.add(*Group.objects.filter(name__in=roles))
    return Caller(user)
