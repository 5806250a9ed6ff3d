from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.domain.budgets import change_budget
from eagle3web.models import Attempt, Project
from eagle3web.queries.burn_down import Step, asked_since, started_with, used_since
from eagle3web.queries.points import milliseconds
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.project()


@pytest.fixture
def attempt(project: Project) -> Attempt:
    plans = [
        {"slug": "B1", "budget": 100, "enabled": True},
        {"slug": "B2", "budget": 50, "enabled": False},
        {"slug": "B3", "budget": None, "enabled": True},
    ]
    return factories.attempt(factories.run(project), config={"datasets": plans})


def test_an_attempt_starts_with_the_budgets_of_its_config(attempt: Attempt) -> None:
    at = milliseconds(attempt.created_at)
    assert started_with(attempt.pk) == [Step(at, "B1", 100), Step(at, "B2", None), Step(at, "B3", None)]
    assert started_with(factories.attempt(config={}).pk) == []


def test_edits_of_its_own_datasets_follow_up_to_its_end(project: Project, attempt: Attempt) -> None:
    for slug in ("B1", "B9"):
        budget = factories.budget(project, factories.dataset(slug=slug), tokens=100)
        budget.history.update(history_date=attempt.created_at - timedelta(hours=1))
        change_budget(budget.pk, user=None, expected_version=1, tokens=300)
        change_budget(budget.pk, user=None, expected_version=2, enabled=False)
    found = asked_since(attempt, started_with(attempt.pk))
    assert [(step.dataset, step.tokens) for step in found] == [("B1", 300), ("B1", None)]
    attempt.ended_at = attempt.created_at
    assert asked_since(attempt, started_with(attempt.pk)) == []


def test_what_the_process_acknowledged_is_what_it_used(attempt: Attempt) -> None:
    now = timezone.now()
    for tokens, version in ((300, 2), (None, 3)):
        factories.event(attempt, "budget_applied", t=now, dataset="B1", budget=tokens, previous=100, budget_version=version)
    factories.event(attempt, "budget_applied", t=now, dataset=7, budget=3)
    at = milliseconds(now)
    assert used_since(attempt.pk) == [Step(at, "B1", 300), Step(at, "B1", None)]
