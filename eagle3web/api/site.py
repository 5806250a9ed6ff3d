"""The API as one object: its routers, its documentation, and its addresses for urls.py."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver
from django.views.decorators.http import require_safe
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, AuthorizationError

from eagle3web.api import attempts, budgets, datasets, engines, logs, me, projects, runs
from eagle3web.api.auth import may
from eagle3web.api.errors import handle_errors

DESCRIPTION = """\
Everything the pages do, for programs. Send `Authorization: Bearer TOKEN` (`manage.py api_token` makes one); a signed-in browser
may use its session and must send `X-CSRFToken` to change something. Failures are `{"detail": …}`, with `errors` by field for
bad input (422) and with what stands now for a conflict (409).
"""


class Api(NinjaAPI):
    """Answers callers that are not signed in by itself (401): the pages' middleware would send a program to a form."""

    @property
    def urls(self) -> tuple[list[URLResolver | URLPattern], str, str]:
        patterns, app_name, namespace = super().urls
        for pattern in patterns:
            if isinstance(pattern, URLPattern):
                login_not_required(pattern.callback)
        return patterns, app_name, namespace


def signed_in(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """For the documentation: read only, by whom `may(None)` lets in."""

    @wraps(view)
    def checked(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        try:
            if not any(auth(request) for auth in may(None)):
                raise AuthenticationError
        except (AuthenticationError, AuthorizationError) as error:
            return api.on_exception(request, error)
        return require_safe(view)(request, **kwargs)

    return checked


api = Api(
    title="eagle3web",
    version="1",
    urls_namespace="api",
    description=DESCRIPTION,
    docs_decorator=signed_in,
    auth=may(None),
)
handle_errors(api)
api.add_router("/me", me.router)
api.add_router("/projects", projects.router)
api.add_router("/budgets", budgets.router)
api.add_router("/datasets", datasets.router)
api.add_router("/runs", runs.router)
api.add_router("/attempts", attempts.router)
api.add_router("/attempts", logs.router)
api.add_router("/engines", engines.router)
