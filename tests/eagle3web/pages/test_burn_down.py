"""What is left, from budgets and points, and when it will be nothing."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from eagle3web.domain.budgets import change_budget
from eagle3web.pages import burn_down
from eagle3web.pages.burn_down import BurnDown, make
from eagle3web.queries.burn_down import Step
from pipeline.budget import Range
from tests.support import factories

START = [Step(0, "B1", 100), Step(0, "B2", 50), Step(0, "B3", None)]


def made(**changes: object) -> BurnDown:
    given: dict[str, object] = {
        "start": START, "asked": [], "used": [], "points": [], "progress": {}, "end": 100, "rate": None,
    }  # fmt: skip
    return make(**given | changes)  # type: ignore[arg-type]


def test_what_is_left_shrinks_with_the_tokens() -> None:
    found = made(points=[("B1", 10, 0), ("B1", 20, 60), ("B2", 30, 50), ("B3", 40, 900)], progress={"B1": 70, "B2": 50})
    assert found.remaining == [(0, 100.0), (10, 100.0), (20, 40.0), (30, 40.0), (40, 40.0), (100, 30.0)]
    assert found.left == 30


def test_tokens_above_a_budget_do_not_count() -> None:
    found = made(points=[("B1", 10, 30), ("B1", 20, 170)], progress={"B1": 170, "B2": 20})
    assert found.remaining[-1] == (100, 30.0)


def test_what_an_earlier_attempt_left_is_there_from_the_start() -> None:
    found = made(points=[("B1", 10, 80)], progress={"B1": 90, "B2": 50})
    assert found.remaining == [(0, 20.0), (10, 20.0), (100, 10.0)]


def test_an_edit_moves_what_is_left_and_the_steps() -> None:
    edit, heard = Step(50, "B1", 200), Step(60, "B1", 200)
    found = made(asked=[edit, Step(80, "B2", None)], used=[heard], progress={"B1": 10})
    assert found.remaining == [(0, 140.0), (50, 240.0), (80, 190.0), (100, 190.0)]
    assert found.asked == [(0, 150.0), (50, 250.0), (80, 200.0), (100, 200.0)]
    assert found.used == [(0, 150.0), (60, 250.0), (100, 250.0)]


def test_a_forecast_is_as_wide_as_the_rate() -> None:
    found = made(rate=Range(low=10, likely=15, high=30))
    assert found.ends == Range(low=100 + 5000, likely=100 + 10_000, high=100 + 15_000)
    assert made(rate=Range(low=1, likely=1, high=1), progress={"B1": 100, "B2": 50}).ends is None


def test_an_end_in_centuries_is_no_forecast() -> None:
    assert made(start=[Step(0, "B1", 10**15)], rate=Range(low=40, likely=50, high=60)).ends is None


def test_a_long_line_is_thinned_and_ends_where_it_ends() -> None:
    found = made(points=[("B1", at, at / 100) for at in range(1, 5000)], progress={"B1": 60}, end=6000)
    assert len(found.remaining) <= burn_down.DRAWN + 1
    assert found.remaining[-1] == (6000, 90.0)


def test_nothing_is_known_of_an_attempt_without_datasets() -> None:
    found = made(start=[])
    assert (found.remaining, found.asked, found.used, found.ends, found.left) == ([], [], [], None, 0.0)


@pytest.mark.django_db
def test_context_reads_edits_and_acknowledgements(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    ada, project = factories.user("ada"), factories.project()
    budget = factories.budget(project, factories.dataset(slug="B1"), tokens=1000)
    plan = {"slug": "B1", "budget": 1000, "enabled": True}
    attempt = factories.attempt(factories.run(project), config={"datasets": [plan]})
    factories.progress(attempt, dataset="B1", tokens=400, budget=1000, tokens_per_s=10)
    factories.point(attempt, "tokens", 400, series="B1")
    factories.point(attempt, "tokens_per_s", 10, series="B1")
    change_budget(budget.pk, user=ada, expected_version=1, tokens=2000)
    factories.event(attempt, "budget_applied", dataset="B1", budget=2000, max_samples=None, previous=1000, budget_version=2)
    with django_assert_max_num_queries(16):
        found = burn_down.context(attempt.run, attempt, forecast=True)
    shown: BurnDown = found["burn_down"]
    assert (shown.left, shown.asked[-1][1], shown.used[-1][1]) == (1600, 2000, 2000)
    assert [value for _, value in shown.asked] == [1000, 2000, 2000]
    assert shown.ends is not None
    assert [(change.who, change.new) for change in found["changes"]] == [("ada", 2000)]
    assert [trace["name"] for trace in found["burn_figure"]["data"]] == [
        "asked", "used by the process", "left", "range", "forecast",
    ]  # fmt: skip


@pytest.mark.django_db
def test_an_ended_attempt_shows_what_happened_while_it_lived() -> None:
    project = factories.project()
    budget = factories.budget(project, factories.dataset(slug="B1"), tokens=1000)
    plan = {"slug": "B1", "budget": 1000, "enabled": True}
    now = timezone.now()
    attempt = factories.attempt(factories.run(project), config={"datasets": [plan]}, status="finished", ended_at=now)
    change_budget(budget.pk, user=None, expected_version=1, tokens=5000)
    attempt.ended_at = now - timedelta(seconds=0)
    found = burn_down.context(attempt.run, attempt, forecast=False)
    assert {value for _, value in found["burn_down"].asked} == {1000}
    assert found["burn_ends"] is None
