"""Logs by line and by byte."""

import pytest

from eagle3web.enums import Role
from tests.support import factories as make
from tests.support.api import Caller, caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Caller:
    return caller("ada", Role.VIEWER)


def test_lines_come_from_where_the_reader_is(api: Caller) -> None:
    attempt = make.attempt()
    make.log(attempt, "one\ntwo\n")
    make.log(attempt, "three\nfour\n")
    path = f"/api/attempts/{attempt.pk}/log"
    first = api.get(path, limit=3).json()
    assert [(line["number"], line["text"]) for line in first["items"]] == [(1, "one"), (2, "two"), (3, "three")]
    rest = api.get(path, from_line=first["next_line"]).json()
    assert [line["text"] for line in rest["items"]] == ["four"]
    assert (rest["next_line"], rest["log_lines"]) == (5, 4)
    assert api.get(path, from_line=5).json()["items"] == []


def test_hostile_text_stays_text(api: Caller) -> None:
    attempt = make.attempt()
    make.log(attempt, "\x1b[31m<script>alert(1)</script>\x00\n")
    answer = api.get(f"/api/attempts/{attempt.pk}/log")
    assert answer["Content-Type"].startswith("application/json")
    assert answer.json()["items"][0]["text"] == "␛[31m<script>alert(1)</script>␀"


def test_raw_bytes_come_back_exactly_from_any_offset(api: Caller) -> None:
    attempt = make.attempt()
    text = "x" * 10 + "\x1b[31m\u202e\n" + "é\n"
    for part in (text[:4], text[4:12], text[12:]):
        make.log(attempt, part)
    data = text.encode()
    path = f"/api/attempts/{attempt.pk}/log/raw"
    assert api.get(path).content == data
    for offset in range(len(data) + 2):
        answer = api.get(path, offset=offset, limit=5)
        assert answer.content == data[offset : offset + 5]
        assert answer["X-Next-Offset"] == str(offset + len(answer.content))
    assert (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("application/octet-stream", "nosniff")
    assert answer["Content-Disposition"].startswith("attachment")


def test_log_of_another_attempt_is_not_mixed_in(api: Caller) -> None:
    first = make.attempt()
    second = make.attempt(first.run)
    make.log(first, "old line\n")
    make.log(second, "new line\n")
    assert api.get(f"/api/attempts/{second.pk}/log/raw").content == b"new line\n"
    assert [line["text"] for line in api.get(f"/api/attempts/{second.pk}/log").json()["items"]] == ["new line"]
