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
