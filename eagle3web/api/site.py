"""The API as one object: its routers, its documentation, and its addresses for urls.py."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver
from django.views.decorators.http import require_safe
from django.views.defaults import page_not_found, server_error
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, AuthorizationError
from ninja.openapi.schema import OpenAPISchema

from eagle3web.api import (
    answers,
    attempts,
    audit,
    benchmarks,
    budgets,
    checkpoints,
    comments,
    datasets,
    engines,
    hosts,
    logs,
    me,
    pipelines,
    plans,
    projects,
    retention,
    reviews,
    run_lists,
    run_marks,
)
from eagle3web.api.arguments import only_known_arguments
from eagle3web.api.auth import may
from eagle3web.api.errors import handle_errors
from eagle3web.api.schema import add_failures

DESCRIPTION = """\
Everything the pages do, for programs. Send `Authorization: Bearer TOKEN` (made on your own page, or by `manage.py
api_token`). A token may be bound to scopes: `read` for every GET, `budgets` for changes of token budgets, `operate` for all
other changes. A signed-in browser may use its session and must send `X-CSRFToken` to change something. Failures are
`{"detail": …}`, with `errors` by field for bad input (422) and with what stands now for a conflict (409). Unknown query
parameters and unknown fields are bad input.
"""


class Api(NinjaAPI):
    """Answers callers that are not signed in by itself (401): the pages' middleware would send a program to a form."""

    @property
    def urls(self) -> tuple[list[URLResolver | URLPattern], str, str]:
        patterns, app_name, namespace = super().urls
        for pattern in patterns:
            if isinstance(pattern, URLPattern):
                pattern.callback = in_json(login_not_required(pattern.callback))
        return patterns, app_name, namespace

    def get_openapi_schema(self, **where: Any) -> OpenAPISchema:
        schema = super().get_openapi_schema(**where)
        add_failures(schema)
        return schema

    def create_temporal_response(self, request: HttpRequest) -> HttpResponse:
        # Called once the caller is let in, and before the body is read: an empty body is an empty object, whose refusal then
        # names the fields that are missing.
        if not request.body:
            request._body = b"{}"
        return super().create_temporal_response(request)


def in_json(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Answer in JSON where a view refuses a method."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if response.status_code != 405:
            return response
        allowed = ", ".join(sorted(response.headers["Allow"].split(", ")))
        return JsonResponse(
            {"detail": f"{request.method} is not allowed here; allowed: {allowed}."}, status=405, headers={"Allow": allowed}
        )

    return answered


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The site's answer to an unknown address: JSON for programs, a page for people."""
    if request.path_info.startswith("/api/"):
        return JsonResponse({"detail": "There is nothing at this address; /api/openapi.json lists what there is."}, status=404)
    return page_not_found(request, exception)


def failed(request: HttpRequest) -> HttpResponse:
    """The site's answer to a defect of ours."""
    if request.path_info.startswith("/api/"):
        return JsonResponse({"detail": "An error of ours; the server's log says why."}, status=500)
    return server_error(request)


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
api.add_decorator(only_known_arguments)
handle_errors(api)
api.add_router("/me", me.router)
api.add_router("/projects", projects.router)
api.add_router("/projects", answers.of_project)
api.add_router("/projects", plans.router)
api.add_router("/answers", answers.router)
api.add_router("/budgets", budgets.router)
api.add_router("/datasets", datasets.router)
api.add_router("/runs", run_lists.router)  # before the runs themselves: `export` is no number of a run
api.add_router("/runs", run_marks.router)
api.add_router("/pipelines", pipelines.router)
api.add_router("/attempts", attempts.router)
api.add_router("/attempts", logs.router)
api.add_router("/checkpoints", checkpoints.router)
api.add_router("/checkpoints", reviews.router)
api.add_router("", comments.router)
api.add_router("/audit", audit.router)
api.add_router("/retention", retention.router)
api.add_router("/benchmarks", benchmarks.router)
api.add_router("/engines", engines.router)
api.add_router("/hosts", hosts.router)
