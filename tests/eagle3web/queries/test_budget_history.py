from datetime import timedelta

import pytest

from eagle3web.domain.budgets import change_budget, create_budget
from eagle3web.queries.budget_history import budget_changes
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_changes_say_who_changed_what_newest_first() -> None:
    ada = factories.user("ada")
    project = factories.project()
    budget = create_budget(project, factories.dataset(slug="B1"), user=ada, tokens=8_000_000)
    change_budget(budget.pk, user=ada, expected_version=1, tokens=10_000_000)
    change_budget(budget.pk, user=None, expected_version=2, enabled=False, max_samples=500)
    found = [(change.who, change.old, change.new, change.notes, change.version) for change in budget_changes(project.pk)]
    assert found == [
        ("the system", 10_000_000, 10_000_000, ("switched off", "answers at most 500"), 3),
        ("ada", 8_000_000, 10_000_000, (), 2),
        ("ada", None, 8_000_000, (), 1),
    ]
    assert budget_changes(project.pk)[-1].created
    assert budget_changes(factories.project().pk) == []


def test_changes_say_which_process_took_them_over_and_when() -> None:
    project = factories.project()
    budget = create_budget(project, factories.dataset(slug="B1"), user=None, tokens=1)
    change_budget(budget.pk, user=None, expected_version=1, tokens=2)
    attempt = factories.attempt(factories.run(project))
    factories.progress(attempt, dataset="B1")
    for version in (2, 3, 4):
        change_budget(budget.pk, user=None, expected_version=version, tokens=version + 1)
    heard, silent, _waits = attempt.controls.order_by("pk")
    heard.acknowledged_at = heard.created_at + timedelta(seconds=0.5)
    heard.save()
    newest, before, third, second, first = budget_changes(project.pk)
    assert (newest.waits, before.told, third.took_s, third.waits) == (True, silent, 0.5, False)
    assert (second.told, first.told, second.waits, second.took_s) == (None, None, False, None)
    attempt.status = "lost"
    attempt.save()
    assert not budget_changes(project.pk)[0].waits


def test_changes_of_a_time_are_those_between_its_ends() -> None:
    project = factories.project()
    budget = create_budget(project, factories.dataset(slug="B1"), user=None, tokens=1)
    change_budget(budget.pk, user=None, expected_version=1, tokens=2)
    newest, first = budget_changes(project.pk)
    assert budget_changes(project.pk, since=newest.at) == [newest]
    assert budget_changes(project.pk, until=first.at) == [first]
