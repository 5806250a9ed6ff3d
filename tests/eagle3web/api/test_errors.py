"""What each failure becomes."""

import json

import pytest
from django.core.exceptions import ObjectDoesNotExist, RequestDataTooBig, ValidationError
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import Http404
from django.test import RequestFactory

from eagle3web.api import api
from eagle3web.domain.runs import NotAllowedNow
from pipeline.errors import ConfigError


@pytest.mark.parametrize(
    ("error", "status", "detail"),
    [
        (Http404("No Run matches the given query."), 404, "There is no such thing."),
        (ObjectDoesNotExist(), 404, "There is no such thing."),
        (ValidationError("Both are wrong."), 422, "Both are wrong."),
        (ValidationError({"slug": ["Too long.", "Taken."]}), 422, "slug: Too long.; slug: Taken."),
        (ConfigError("no engine was chosen"), 422, "no engine was chosen."),
        (NotAllowedNow("r7 is finished"), 409, "r7 is finished"),
        (IntegrityError("UNIQUE constraint failed"), 409, "Somebody else made or removed the same thing at this moment."),
        (RequestDataTooBig(), 413, "The body is too large."),
        (OperationalError("locked"), 503, "The database does not answer; nothing was changed. Try again in a moment."),
        (InterfaceError("closed"), 503, "The database does not answer; nothing was changed. Try again in a moment."),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_failure_has_a_status_and_a_sentence(error: Exception, status: int, detail: str) -> None:
    answer = api.on_exception(RequestFactory().get("/api/runs"), error)
    assert (answer.status_code, json.loads(answer.content)["detail"]) == (status, detail)


def test_database_that_is_away_says_when_to_come_back() -> None:
    assert api.on_exception(RequestFactory().get("/api/runs"), OperationalError())["Retry-After"] == "5"


def test_defects_are_not_dressed_up() -> None:
    with pytest.raises(ZeroDivisionError):
        api.on_exception(RequestFactory().get("/api/runs"), ZeroDivisionError())
