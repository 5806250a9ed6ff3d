import pytest

from eagle3web.models import Attempt
from eagle3web.queries.log import LogReader, last_line, search, shown, window
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    return factories.attempt()


def test_read_goes_on_where_it_ended(attempt: Attempt) -> None:
    factories.log(attempt, "one\ntwo\n")
    reader = LogReader(attempt.pk)
    assert reader.read() == [(1, ("one", 0)), (2, ("two", 0))]
    assert reader.read() == []
    factories.log(attempt, "three\n")
    assert reader.read() == [(3, ("three", 0))]


def test_unfinished_line_is_shown_until_it_ends(attempt: Attempt) -> None:
    factories.log(attempt, "one\nLoad")
    reader = LogReader(attempt.pk)
    assert reader.read() == [(1, ("one", 0))]
    assert reader.unfinished == ("Load", 0)
    factories.log(attempt, "ing\n")
    assert reader.read() == [(2, ("Loading", 0))]
    assert reader.unfinished == ("", 0)


def test_long_line_is_cut_and_says_by_how_much(attempt: Attempt) -> None:
    for _ in range(10):
        factories.log(attempt, "x" * 100_000)
    factories.log(attempt, "\nshort\n")
    (first, (text, left_out)), second = LogReader(attempt.pk).read()
    assert (first, len(text), left_out) == (1, 2000, 998_000)
    assert second == (2, ("short", 0))


def test_hostile_bytes_come_out_as_signs() -> None:
    assert shown(b"\x1b[2Jcaf\xc3\xa9 \xff\x00<b>\r") == ("␛[2Jcafé \\xff␀<b>", 0)


def test_after_line_starts_at_a_chunk_that_begins_inside_a_line(attempt: Attempt) -> None:
    factories.log(attempt, "one\ntwo\nthr")
    factories.log(attempt, "ee\nfour\n")
    reader = LogReader.after_line(attempt.pk, 3)
    assert reader.read() == [(4, ("four", 0))]
    assert last_line(attempt.pk) == 4


def test_last_lines_reads_only_the_end(attempt: Attempt) -> None:
    for start in range(0, 1000, 100):
        factories.log(attempt, "".join(f"line {n}\n" for n in range(start + 1, start + 101)))
    numbers = [n for n, _ in LogReader.last_lines(attempt.pk, 150).read()]
    assert numbers == list(range(801, 1001))


def test_window_gives_the_lines_asked_for(attempt: Attempt) -> None:
    for start in range(0, 300, 50):
        factories.log(attempt, "".join(f"line {n}\n" for n in range(start + 1, start + 51)))
    assert [n for n, _ in window(attempt.pk, after=120, count=100)] == list(range(121, 221))
    assert [n for n, _ in window(attempt.pk, after=0, count=3)] == [1, 2, 3]
    assert window(attempt.pk, after=300, count=10) == []


def test_search_finds_lines_whatever_their_case(attempt: Attempt) -> None:
    factories.log(attempt, "Budget met\nother\nbudget 2\nBUDGET 3\n")
    assert search(attempt.pk, "budget", limit=2) == ([(3, ("budget 2", 0)), (4, ("BUDGET 3", 0))], 3)
    assert search(attempt.pk, "<script>", limit=2) == ([], 0)


def test_log_of_another_attempt_never_shows(attempt: Attempt) -> None:
    factories.log(attempt, "old\n")
    second = factories.attempt(attempt.run)
    factories.log(second, "new\n")
    assert LogReader(second.pk).read() == [(1, ("new", 0))]
