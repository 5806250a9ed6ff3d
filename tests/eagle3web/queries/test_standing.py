import pytest

from eagle3web.enums import DatasetState
from eagle3web.models import Project, TokenBudget
from eagle3web.queries.standing import standings
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def budget() -> TokenBudget:
    return factories.budget(factories.project(), factories.dataset(slug="B1"), tokens=10_000_000)


def project(budget: TokenBudget) -> Project:
    return budget.project


def state(budget: TokenBudget) -> str:
    return standings(budget.project_id)[0].state


def test_dataset_without_any_attempt_is_pending(budget: TokenBudget) -> None:
    (standing,) = standings(budget.project_id)
    assert (standing.tokens, standing.state, standing.live) == (0, DatasetState.PENDING, False)


def test_pending_row_of_a_newer_attempt_does_not_hide_what_is_on_disk(budget: TokenBudget) -> None:
    run = factories.run(project(budget))
    factories.progress(factories.attempt(run, status="failed"), dataset="B1", state="stopped", tokens=4_000_000)
    factories.progress(factories.attempt(run), dataset="B1", state="pending", tokens=0)
    assert standings(budget.project_id)[0].tokens == 4_000_000


def test_in_flight_counts_only_while_the_attempt_lives(budget: TokenBudget) -> None:
    attempt = factories.attempt(factories.run(project(budget)))
    factories.progress(attempt, dataset="B1", in_flight_tokens=300)
    assert standings(budget.project_id)[0].in_flight_tokens == 300
    type(attempt).objects.update(status="lost")
    assert standings(budget.project_id)[0].in_flight_tokens == 0


def test_budget_that_was_raised_makes_a_finished_dataset_pending_again(budget: TokenBudget) -> None:
    attempt = factories.attempt(factories.run(project(budget)), status="finished")
    factories.progress(attempt, dataset="B1", state="finished", reason="budget_met", tokens=10_000_000)
    assert state(budget) == DatasetState.FINISHED
    TokenBudget.objects.update(tokens=12_000_000)
    assert state(budget) == DatasetState.PENDING


def test_dataset_without_more_prompts_stays_finished(budget: TokenBudget) -> None:
    attempt = factories.attempt(factories.run(project(budget)), status="finished")
    factories.progress(attempt, dataset="B1", state="finished", reason="exhausted", tokens=3_000_000)
    assert state(budget) == DatasetState.FINISHED


def test_dataset_that_is_switched_off_is_skipped(budget: TokenBudget) -> None:
    TokenBudget.objects.update(enabled=False)
    assert state(budget) == DatasetState.SKIPPED


def test_other_projects_do_not_count(budget: TokenBudget) -> None:
    factories.progress(factories.attempt(), dataset="B1", tokens=5)
    assert standings(budget.project_id)[0].tokens == 0


def test_standings_cost_the_same_for_any_number_of_datasets(budget: TokenBudget, django_assert_num_queries: object) -> None:
    owner = project(budget)
    attempt = factories.attempt(factories.run(owner))
    for n in range(6):
        factories.budget(owner, factories.dataset(slug=f"C{n}"))
        factories.progress(attempt, dataset=f"C{n}")
    with django_assert_num_queries(3):  # type: ignore[operator]
        assert len(standings(owner.pk)) == 7
