import pytest
from django.test import Client

from eagle3web.models import Attempt
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    attempt = factories.attempt()
    factories.log(attempt, "".join(f"line {n}\n" for n in range(1, 101)))
    factories.log(attempt, f"{factories.HOSTILE}\nunfinished")
    return attempt


def test_window_of_lines(viewer: Client, attempt: Attempt) -> None:
    answer = viewer.get(f"/runs/{attempt.run_id}/attempts/1/log/?after=10&count=2")
    assert answer.json() == {"lines": [[11, ["line 11", 0]], [12, ["line 12", 0]]]}


def test_search_goes_through_the_whole_log(viewer: Client, attempt: Attempt) -> None:
    found = viewer.get(f"/runs/{attempt.run_id}/attempts/1/log/?q=LINE 9").json()
    assert (found["total"], found["lines"][0]) == (11, [9, ["line 9", 0]])
    assert viewer.get(f"/runs/{attempt.run_id}/attempts/1/log/?q=<script>").json()["total"] == 1


@pytest.mark.parametrize("query", ["?after=x&count=-1", "?after=99999999999999999999", "?count=0"])
def test_odd_numbers_are_no_error(viewer: Client, attempt: Attempt, query: str) -> None:
    assert viewer.get(f"/runs/{attempt.run_id}/attempts/1/log/{query}").status_code == 200


def test_download_is_the_file_as_it_was_written(viewer: Client, attempt: Attempt) -> None:
    answer = viewer.get(f"/runs/{attempt.run_id}/attempts/1/log.txt")
    body = answer.getvalue()
    assert body.endswith(f"{factories.HOSTILE}\nunfinished".encode())
    assert answer.headers["Content-Disposition"] == f'attachment; filename="r{attempt.run_id}-attempt-1-log.txt"'
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
