"""Lists of answers, page by page."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from eagle3web.models import Project
from eagle3web.queries import answers
from eagle3web.queries.answers import AnswerFilter, answers_page, datasets_with_answers, flag_counts, flags_of
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.project()


def pages(project: Project, **wanted: Any) -> list[list[str]]:
    """All pages, one after the other, by the names of the prompts."""
    asked = AnswerFilter(**{"dataset": "B1"} | wanted)
    found, after = [], ""
    while True:
        page = answers_page(project.pk, asked, after=after, size=2)
        found.append([row.prompt_id for row in page.rows])
        if not (after := page.after):
            return found


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("newest", [["e", "d"], ["c", "b"], ["a"]]),
        ("oldest", [["a", "b"], ["c", "d"], ["e"]]),
        ("longest", [["d", "c"], ["b", "e"], ["a"]]),
        ("shortest", [["a", "e"], ["b", "c"], ["d"]]),
        ("repetitive", [["c", "e"], ["d", "b"], ["a"]]),
    ],
)
def test_pages_follow_one_another_in_each_order(project: Project, sort: str, expected: list[list[str]]) -> None:
    tokens, shares = [1, 9, 9, 9, 5], [0.0, 0.1, 0.8, 0.1, 0.3]
    for name, count, share in zip("abcde", tokens, shares, strict=True):
        factories.stored_answer(project, prompt_id=name, tokens=count, repetition=share)
    factories.stored_answer(project, dataset="B2")
    factories.stored_answer(dataset="B1")
    assert pages(project, sort=sort) == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"finish": "length"}, ["b"]),
        ({"finish": "error"}, ["c"]),
        ({"shortest": 50, "longest": 60}, ["b"]),
        ({"repetition": 0.3}, ["b"]),
        ({"language": "Han"}, ["b"]),
        ({"mark": "excluded"}, ["a"]),
        ({"text": "NEEDLE"}, ["b", "a"]),
        ({"text": "needle", "finish": "stop"}, ["a"]),
        ({"text": "100%"}, []),
    ],
)
def test_each_filter_leaves_what_fits(project: Project, wanted: dict[str, Any], expected: list[str]) -> None:
    first = factories.stored_answer(project, prompt_id="a", prompt="a needle here")
    factories.stored_answer(
        project, prompt_id="b", tokens=55, finish_reason="length", repetition=0.3, language="Han", text="Needle, 100 percent"
    )
    factories.stored_answer(project, prompt_id="c", tokens=0, finish_reason="", error="too long", language="")
    factories.flag(first, state="excluded")
    assert [name for page in pages(project, **wanted) for name in page] == expected


def test_a_search_looks_at_so_many_answers_and_goes_on_from_there(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "SEARCHED", 3)
    for n in range(8):
        factories.stored_answer(project, prompt_id=f"p{n}", text="needle" if n in (0, 6, 7) else "hay", tokens=n)
    wanted = AnswerFilter(dataset="B1", text="needle")
    first = answers_page(project.pk, wanted)
    assert ([row.prompt_id for row in first.rows], first.searched) == (["p7", "p6"], True)
    second = answers_page(project.pk, wanted, after=first.after)
    assert (second.rows, second.searched) == ([], True)
    third = answers_page(project.pk, wanted, after=second.after)
    assert ([row.prompt_id for row in third.rows], third.after, third.searched) == (["p0"], "", False)
    assert pages(project, text="needle", sort="shortest") == [["p0"], [], ["p6", "p7"]]


@pytest.mark.parametrize("after", ["nonsense", "1", "_", "1e99_1", "99999999999999999999_1", "1_99999999999999999999"])
def test_what_is_no_cursor_begins_at_the_start(project: Project, after: str) -> None:
    factories.stored_answer(project)
    assert len(answers_page(project.pk, AnswerFilter(dataset="B1"), after=after).rows) == 1


def test_a_page_reads_only_beginnings_of_texts(project: Project, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    factories.stored_answer(project, prompt="p" * 500, text="t" * 4000)
    with django_assert_num_queries(1):
        (row,) = answers_page(project.pk, AnswerFilter(dataset="B1")).rows
    assert (len(row.prompt_excerpt), len(row.text_excerpt)) == (240, 240)  # type: ignore[attr-defined]
    assert row.get_deferred_fields() == {"prompt", "text"}


def test_datasets_are_those_with_files(project: Project) -> None:
    factories.answer_file(project, dataset="B2")
    factories.answer_file(project, dataset="B1")
    factories.answer_file(project, dataset="B1", name="errors.jsonl")
    factories.answer_file(dataset="B3")
    assert datasets_with_answers(project.pk) == ["B1", "B2"]


def test_flags_are_found_by_key_and_counted_by_state(project: Project) -> None:
    row, other = factories.stored_answer(project), factories.stored_answer(project)
    found = factories.flag(row, state="kept")
    factories.flag(factories.stored_answer(project, dataset="B2"))
    assert flags_of([row, other]) == {row.key: found}
    assert flags_of([]) == {}
    assert flag_counts(project.pk) == {"flagged": 1, "excluded": 0, "kept": 1}
