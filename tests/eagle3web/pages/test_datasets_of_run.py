import pytest

from eagle3web.models import Attempt
from eagle3web.pages.datasets_of_run import dataset_rows, totals
from eagle3web.queries.runs import datasets_of
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    attempt = factories.attempt()
    quiet = {"in_flight": 0, "in_flight_tokens": 0, "tokens_per_s": 0.0, "eta_s": None}
    factories.progress(attempt, dataset="B1", tokens=17_030_000, state="skipped", reason="budget_met", **quiet)
    factories.progress(attempt, dataset="B2", tokens=4_200_000, budget_version=2)
    factories.progress(attempt, dataset="B3", tokens=0, done=0, state="pending", **quiet)
    return attempt


def test_rows_share_one_scale_and_say_their_numbers(attempt: Attempt) -> None:
    rows = dataset_rows(datasets_of(attempt.pk), {}, forecast=True)
    assert {row.scale for row in rows} == {17_030_000 * 1.04}
    assert [(row.done, row.goal, row.why) for row in rows] == [
        ("17.03 M", "10.00 M", "budget met"),
        ("4.20 M", "10.00 M", ""),
        ("0.00 M", "10.00 M", ""),
    ]
    assert rows[1].label == "4.20 M of 10.00 M, 310.0 k in flight"
    assert rows[0].label == "17.03 M of 10.00 M, 7.03 M over"


def test_row_waits_until_the_process_uses_the_version_that_is_asked_for(attempt: Attempt) -> None:
    budget = factories.budget(to=factories.dataset(slug="B2"), version=3)
    row = dataset_rows(datasets_of(attempt.pk), {"B2": budget}, forecast=True)[1]
    assert (row.asked_version, row.progress.budget_version, row.waits) == (3, 2, True)


def test_forecast_is_left_out_while_nothing_is_heard(attempt: Attempt) -> None:
    progress = datasets_of(attempt.pk)
    assert dataset_rows(progress, {}, forecast=False)[1].eta_s is None
    assert totals(progress, forecast=False).eta_s is None


def test_totals_count_towards_budgets_and_no_further(attempt: Attempt) -> None:
    now = totals(datasets_of(attempt.pk), forecast=True)
    assert (now.tokens, now.over, now.budget) == (14_200_000, 7_030_000, 30_000_000)
    assert now.words == "14.20 M of 30.00 M tokens"
    assert now.eta_s == pytest.approx((5_800_000 + 10_000_000) / 2094)


def test_totals_expect_no_more_than_the_prompts_give(attempt: Attempt) -> None:
    factories.progress(attempt, dataset="B4", budget=None, total=1728 + 100, max_samples=1728 + 10, state="pending")
    ahead = 10 * 4_200_000 / 1728
    assert totals(datasets_of(attempt.pk), forecast=True).eta_s == pytest.approx((15_800_000 + ahead) / (2 * 2094))


def test_totals_have_no_eta_where_a_dataset_has_neither_budget_nor_answers(attempt: Attempt) -> None:
    factories.progress(attempt, dataset="B4", budget=None, done=0, tokens=0, state="pending")
    assert totals(datasets_of(attempt.pk), forecast=True).eta_s is None


def test_totals_of_nothing() -> None:
    now = totals([], forecast=True)
    assert (now.words, now.eta_s, now.share) == ("0 tokens", None, None)
