"""Rows by what a person types."""

import pytest

from eagle3web.queries import search
from eagle3web.queries.search import LIMIT, Wanted
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("typed", "words", "number"),
    [("", (), None), ("r142", ("r142",), 142), ("Stop 7", ("stop", "7"), 7), ("B3_math", ("b3_math",), None)],
)
def test_words_and_the_number_among_them_are_read(typed: str, words: tuple[str, ...], number: int | None) -> None:
    assert Wanted.parse(typed) == Wanted(words=words, number=number)


def test_run_is_found_by_its_number_and_by_all_of_its_words() -> None:
    first = factories.run(title="nightly long answers")
    second = factories.run(title="nightly")
    assert search.runs(Wanted.parse(f"r{first.pk}")) == [first]
    assert search.runs(Wanted.parse("nightly")) == [second, first]
    assert search.runs(Wanted.parse("answers generate")) == [first]
    assert search.runs(Wanted.parse("nothing")) == []


def test_checkpoints_are_found_by_run_by_step_and_by_mark() -> None:
    row = factories.checkpoint(step=400, promoted=True)
    other = factories.checkpoint(step=500)
    assert search.checkpoints(Wanted.parse(f"{row.run_id}")) == [row]
    assert search.checkpoints(Wanted.parse("step 500")) == [other]
    assert search.checkpoints(Wanted.parse("promo")) == [row]
    assert search.checkpoints(Wanted.parse("check")) == [other, row]
    assert search.checkpoints(Wanted.parse("zebra")) == []


def test_few_rows_of_a_kind_come_back() -> None:
    for n in range(LIMIT + 3):
        factories.dataset(slug=f"set-{n}")
    assert len(search.datasets(Wanted.parse("set"))) == LIMIT


def test_percent_and_underscore_are_letters() -> None:
    factories.dataset(slug="plain")
    assert search.datasets(Wanted.parse("%")) == []
    assert search.datasets(Wanted.parse("p_a")) == []
