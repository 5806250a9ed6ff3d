"""Every failure is JSON with a `detail` for a person; bad input also says which fields, a conflict what stands now."""

from datetime import datetime
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ObjectDoesNotExist, RequestDataTooBig
from django.core.exceptions import ValidationError as ModelInvalid
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, ValidationError

from eagle3web.api.base import Out
from eagle3web.domain.budgets import BudgetConflict
from eagle3web.domain.runs import NotAllowedNow
from pipeline.errors import ConfigError


class FieldError(Out):
    field: str
    """Dotted path, such as `sampling` or `engines.0`; empty for the whole."""
    message: str


class Problem(Out):
    """Body of every answer from 400 on."""

    detail: str
    errors: list[FieldError] = []


class Conflict(Problem):
    """Body of a 409 on a budget."""

    changed_by: str
    changed_at: datetime
    budget: dict[str, Any]
    """The fields as they stand now, with their version."""


def handle_errors(api: NinjaAPI) -> None:
    """Register what each failure becomes. Whatever is not listed here is a defect, and Django answers 500."""

    def answer(request: HttpRequest, status: int, detail: str, **more: Any) -> HttpResponse:
        return api.create_response(request, {"detail": detail, **more}, status=status)

    @api.exception_handler(AuthenticationError)
    def unknown_caller(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
        response = answer(request, 401, "Sign in, or send a token: Authorization: Bearer …")
        response["WWW-Authenticate"] = "Bearer"
        return response

    @api.exception_handler(Http404)
    @api.exception_handler(ObjectDoesNotExist)
    def missing(request: HttpRequest, error: Exception) -> HttpResponse:
        return answer(request, 404, "There is no such thing.")

    @api.exception_handler(ValidationError)
    def malformed(request: HttpRequest, error: ValidationError) -> HttpResponse:
        errors = [{"field": _field(found["loc"]), "message": found["msg"]} for found in error.errors]
        return answer(request, 422, _sentence(errors), errors=errors)

    @api.exception_handler(ModelInvalid)
    def impossible(request: HttpRequest, error: ModelInvalid) -> HttpResponse:
        found = error.message_dict if hasattr(error, "error_dict") else {NON_FIELD_ERRORS: error.messages}
        errors = [
            {"field": "" if field == NON_FIELD_ERRORS else field, "message": message}
            for field, messages in found.items()
            for message in messages
        ]
        return answer(request, 422, _sentence(errors), errors=errors)

    @api.exception_handler(ConfigError)
    def senseless(request: HttpRequest, error: ConfigError) -> HttpResponse:
        return answer(request, 422, f"{error}.")

    @api.exception_handler(NotAllowedNow)
    def not_now(request: HttpRequest, error: NotAllowedNow) -> HttpResponse:
        return answer(request, 409, str(error))

    @api.exception_handler(BudgetConflict)
    def somebody_was_first(request: HttpRequest, error: BudgetConflict) -> HttpResponse:
        theirs = error.theirs
        stands = {"version": theirs.version, "tokens": theirs.tokens, "max_samples": theirs.max_samples}
        stands |= {"enabled": theirs.enabled, "position": theirs.position, "sampling": theirs.sampling}
        return answer(request, 409, f"{error}.", changed_by=error.who, changed_at=error.when, budget=stands)

    @api.exception_handler(IntegrityError)
    def exists_by_now(request: HttpRequest, error: IntegrityError) -> HttpResponse:
        return answer(request, 409, "Somebody else made or removed the same thing at this moment.")

    @api.exception_handler(RequestDataTooBig)
    def too_big(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
        return answer(request, 413, "The body is too large.")

    @api.exception_handler(OperationalError)
    @api.exception_handler(InterfaceError)
    def database_away(request: HttpRequest, error: Exception) -> HttpResponse:
        response = answer(request, 503, "The database does not answer; nothing was changed. Try again in a moment.")
        response["Retry-After"] = "5"
        return response


def _field(loc: tuple[str | int, ...]) -> str:
    """`("body", "fields", "engines", 0)` → `engines.0`: without where ninja found it and what the operation calls it."""
    return ".".join(str(part) for part in loc[2:] or loc[-1:])


def _sentence(errors: list[dict[str, str]]) -> str:
    return "; ".join(f"{e['field']}: {e['message']}" if e["field"] else e["message"] for e in errors)
