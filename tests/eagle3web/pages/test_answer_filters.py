import pytest

from eagle3web.pages.answer_filters import filter_choices, read_filter
from eagle3web.queries.answers import AnswerFilter


def test_an_empty_address_is_the_newest_of_the_first_dataset() -> None:
    assert read_filter({}, ["B1", "B2"]) == AnswerFilter(dataset="B1")
    assert read_filter({}, []) == AnswerFilter(dataset="")


def test_an_address_says_every_filter() -> None:
    query = {
        "dataset": "B2", "finish": "length", "min": "1 000", "max": "2000", "repetition": "30", "language": "Han",
        "mark": "kept", "q": "fox\0", "sort": "longest",
    }  # fmt: skip
    assert read_filter(query, ["B1"]) == AnswerFilter(
        dataset="B2", finish="length", shortest=1000, longest=2000, repetition=0.3, language="Han", mark="kept", text="fox",
        sort="longest",
    )  # fmt: skip


@pytest.mark.parametrize("query", [{"finish": "odd"}, {"mark": "x"}, {"sort": "id"}, {"min": "-1"}, {"repetition": "lots"}])
def test_what_makes_no_sense_is_passed_over(query: dict[str, str]) -> None:
    assert read_filter(query, ["B1"]) == AnswerFilter(dataset="B1")


def test_numbers_stay_what_a_database_can_compare() -> None:
    found = read_filter({"max": "999999999999999", "repetition": "700"}, ["B1"])
    assert (found.longest, found.repetition) == (2**31 - 1, 1.0)


def test_choices_mark_what_is_chosen_even_what_is_not_offered() -> None:
    found = filter_choices(AnswerFilter(dataset="B1", repetition=0.35, sort="longest"))
    assert [choice.value for choice in found["repetition"] if choice.chosen] == ["35"]
    assert [choice.value for choice in found["sort"] if choice.chosen] == ["longest"]
    assert [choice.value for choice in found["finish"] if choice.chosen] == [""]
