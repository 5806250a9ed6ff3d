"""What a log does not tell."""

import logging
import sys
from typing import Any

import pytest
from django.conf import settings

from eagle3web.safe_logs import NoTraceOfRefusals, SafeFormatter, blotted


@pytest.mark.parametrize(
    ("said", "logged"),
    [
        ("postgres://eagle3:s3cret@db/eagle3 is away", "postgres://…@db/eagle3 is away"),
        ("redis://:s3cret@broker:6379/0", "redis://…@broker:6379/0"),
        ("Authorization: Bearer e3_abcdefghijklmnopqrstuvwxyz0123", "Authorization: Bearer …"),
        ("token e3_abcdefghijklmnop-qrst_uvwxyz0123 unknown", "token e3_… unknown"),
        ("Too Many Requests: /sign-in/link/MQ.abc-def", "Too Many Requests: /sign-in/link/…"),
        ("cookie sessionid=abc123def; path=/", "cookie sessionid=…; path=/"),
        (
            "GET http://gpu-07:30000/generate at 12:30 by ada@example",
            "GET http://gpu-07:30000/generate at 12:30 by ada@example",
        ),
    ],
)
def test_what_opens_a_door_is_blotted_out_and_the_rest_stays(said: str, logged: str) -> None:
    assert blotted(said) == logged


def test_tracebacks_are_blotted_too() -> None:
    try:
        raise OSError("cannot reach postgres://eagle3:s3cret@db/eagle3")
    except OSError:
        record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "failed for %s", ("redis://:s3cret@broker",), sys.exc_info())
    text = SafeFormatter("%(message)s").format(record)
    assert "s3cret" not in text
    assert text.startswith("failed for redis://…@broker\nTraceback")


def test_every_handler_of_the_site_writes_so() -> None:
    logging_settings: Any = settings.LOGGING
    used = {handler["formatter"] for handler in logging_settings["handlers"].values()}
    assert {logging_settings["formatters"][name]["()"] for name in used} == {"eagle3web.safe_logs.SafeFormatter"}


@pytest.mark.parametrize(("status", "traced"), [(403, False), (500, True), (None, True)])
def test_request_that_was_refused_is_told_without_a_traceback(status: int | None, traced: bool) -> None:
    try:
        raise PermissionError
    except PermissionError:
        record = logging.LogRecord("django.request", logging.WARNING, "", 0, "Forbidden: /runs/1/", (), sys.exc_info())
    if status is not None:
        record.status_code = status
    assert NoTraceOfRefusals().filter(record)
    assert (record.exc_info is not None) is traced
    handlers: Any = settings.LOGGING["handlers"]
    assert handlers["stderr"]["filters"] == ["refusals"]
