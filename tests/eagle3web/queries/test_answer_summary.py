import pytest
from pytest_django import DjangoAssertNumQueries

from eagle3web.queries.answer_summary import answer_summary, bin_width
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_a_summary_counts_everything_once(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    project = factories.project()
    for tokens, share, language in ((5, 0.0, "Latin"), (40, 0.29, "Latin"), (64, 0.3, "Han"), (64, 1.0, "")):
        end = "length" if tokens == 64 else "stop"
        factories.stored_answer(project, tokens=tokens, repetition=share, language=language, finish_reason=end)
    for _ in range(2):
        factories.stored_answer(project, tokens=0, finish_reason="", error="too long", language="")
    factories.stored_answer(project, dataset="B2")
    with django_assert_num_queries(5):
        found = answer_summary(project.pk, "B1")
    assert (found.answers, found.errors, found.truncated) == (4, 2, 2)
    assert (found.mean_tokens, found.longest, found.width) == (43.25, 64, 5)
    assert sum(found.lengths) == 4
    assert (found.lengths[1], found.lengths[8], found.lengths[12]) == (1, 1, 2)
    assert found.edges == list(range(0, 70, 5))
    assert found.repetition == [1, 0, 1, 1, 0, 0, 0, 0, 0, 1]
    assert (found.truncated_share, found.repetitive, found.repetitive_share) == (0.5, 2, 0.5)
    assert found.languages == [("Latin", 2), ("Han", 1)]
    assert dict(found.ends) == {"stop": 2, "length": 2, "error": 2}


def test_rare_languages_are_counted_together() -> None:
    project = factories.project()
    for n, name in enumerate(("Latin", "Han", "Greek", "Thai", "Arabic", "Hebrew", "Hangul", "Tamil")):
        for _ in range(9 - n):
            factories.stored_answer(project, language=name)
    assert answer_summary(project.pk, "B1").languages == [
        ("Latin", 9), ("Han", 8), ("Greek", 7), ("Thai", 6), ("Arabic", 5), ("Hebrew", 4), ("other", 5),
    ]  # fmt: skip


def test_a_dataset_without_answers_has_a_summary_too() -> None:
    found = answer_summary(factories.project().pk, "B1")
    assert (found.answers, found.lengths, found.truncated_share, found.mean_tokens) == (0, [], None, None)


@pytest.mark.parametrize(("longest", "width"), [(0, 1), (31, 1), (32, 2), (63, 2), (64, 5), (8192, 500), (10**6, 50_000)])
def test_bins_are_round_and_few(longest: int, width: int) -> None:
    assert bin_width(longest) == width
