"""Budgets change through one door: versions, history, audit, and a word to whoever generates."""

import threading

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from eagle3web.domain.budgets import BudgetChange, BudgetConflict, change_budget, change_budgets, create_budget
from eagle3web.models import AuditEntry, ControlMessage, TokenBudget
from tests.support import factories as make


@pytest.mark.django_db
def test_change_counts_the_version_and_writes_history_and_audit() -> None:
    ada, budget = make.user("ada"), make.budget(tokens=10_000_000)
    changed = change_budget(budget.pk, user=ada, expected_version=1, tokens=5_000_000, enabled=True)
    assert (changed.tokens, changed.version) == (5_000_000, 2)
    assert TokenBudget.objects.get().version == 2
    assert list(budget.history.values_list("version", "tokens", "history_user__username")) == [
        (2, 5_000_000, "ada"),
        (1, 10_000_000, None),
    ]
    entry = AuditEntry.objects.get()
    assert (entry.user, entry.verb, entry.detail["version"]) == (ada, "budget.change", 2)
    assert entry.detail["changes"] == {"tokens": [10_000_000, 5_000_000]}


@pytest.mark.django_db
def test_change_to_what_stands_does_nothing() -> None:
    budget = make.budget(tokens=10_000_000)
    assert change_budget(budget.pk, user=None, expected_version=1, tokens=10_000_000).version == 1
    assert AuditEntry.objects.count() == 0
    assert budget.history.count() == 1


@pytest.mark.django_db
def test_second_editor_gets_a_conflict_that_names_the_first() -> None:
    ada, ben, budget = make.user("ada"), make.user("ben"), make.budget(tokens=10_000_000)
    change_budget(budget.pk, user=ada, expected_version=1, tokens=5_000_000)
    with pytest.raises(BudgetConflict) as caught:
        change_budget(budget.pk, user=ben, expected_version=1, tokens=8_000_000)
    assert (caught.value.who, caught.value.theirs.tokens, caught.value.theirs.version) == ("ada", 5_000_000, 2)
    assert caught.value.when == budget.history.latest().history_date
    assert TokenBudget.objects.get().tokens == 5_000_000


@pytest.mark.django_db
def test_conflict_without_history_names_the_system() -> None:
    budget = make.budget()
    budget.history.all().delete()
    with pytest.raises(BudgetConflict) as caught:
        change_budget(budget.pk, user=None, expected_version=7, tokens=1)
    assert (caught.value.who, caught.value.when) == ("the system", TokenBudget.objects.get().updated_at)


@pytest.mark.django_db(transaction=True)
def test_of_many_editors_at_once_one_wins() -> None:
    budget = make.budget(tokens=0)
    outcomes: list[str] = []

    def edit(tokens: int) -> None:
        try:
            change_budget(budget.pk, user=None, expected_version=1, tokens=tokens)
            outcomes.append("changed")
        except BudgetConflict:
            outcomes.append("conflict")
        finally:
            connection.close()

    editors = [threading.Thread(target=edit, args=(n,)) for n in range(1, 7)]
    for editor in editors:
        editor.start()
    for editor in editors:
        editor.join(30)
    assert sorted(outcomes) == ["changed"] + ["conflict"] * 5
    assert TokenBudget.objects.get().version == 2
    assert budget.history.count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"tokens": -1}, "tokens"),
        ({"tokens": 10**16}, "tokens"),
        ({"max_samples": -1}, "max_samples"),
        ({"sampling": {"temprature": 1}}, "sampling"),
        ({"sampling": {"temperature": float("nan")}}, "sampling"),
        ({"sampling": {"max_new_tokens": 0}}, "sampling"),
        ({"sampling": [1]}, "sampling"),
    ],
)
def test_impossible_values_are_refused_by_field_and_nothing_is_kept(changes: dict[str, object], field: str) -> None:
    budget = make.budget(tokens=10)
    with pytest.raises(ValidationError) as caught:
        change_budget(budget.pk, user=None, expected_version=1, **changes)  # type: ignore[arg-type]
    assert list(caught.value.message_dict) == [field]
    assert list(TokenBudget.objects.values_list("tokens", "version")) == [(10, 1)]
    assert AuditEntry.objects.count() == 0


@pytest.mark.django_db
def test_live_generation_run_of_the_project_is_told() -> None:
    project, dataset = make.project(), make.dataset(slug="B1_glaive")
    budget = make.budget(project, dataset, tokens=10_000_000)
    live = make.attempt(make.run(project))
    make.progress(live, dataset="B1_glaive")
    make.progress(make.attempt(make.run()), dataset="B1_glaive")
    change_budget(budget.pk, user=make.user("ada"), expected_version=1, tokens=None, max_samples=70)
    (message,) = ControlMessage.objects.all()
    assert (message.attempt, message.kind) == (live, "set_budget")
    assert message.payload == {"dataset": "B1_glaive", "tokens": None, "max_samples": 70, "enabled": True, "version": 2}


@pytest.mark.django_db
def test_create_puts_the_dataset_last_and_names_its_author() -> None:
    ada, project = make.user("ada"), make.project()
    make.budget(project, position=7)
    budget = create_budget(project, make.dataset(), user=ada, tokens=1_000)
    assert (budget.position, budget.version) == (8, 1)
    assert budget.history.get().history_user == ada
    assert AuditEntry.objects.get().verb == "budget.create"


@pytest.mark.django_db
def test_dataset_has_one_budget_in_a_project() -> None:
    budget = make.budget()
    with pytest.raises(ValidationError, match="already exists"):
        create_budget(budget.project, budget.dataset, user=None, tokens=5)


@pytest.mark.django_db
def test_several_budgets_change_together_or_not_at_all() -> None:
    one, other = make.budget(tokens=1), make.budget(tokens=2)
    edits = [BudgetChange(one.pk, 1, {"tokens": 10}), BudgetChange(other.pk, 7, {"tokens": 20})]
    with pytest.raises(BudgetConflict):
        change_budgets(edits, user=None)
    one.refresh_from_db()
    assert one.tokens == 1
    changed = change_budgets([edits[0], edits[1]._replace(expected_version=1)], user=None)
    assert [(row.tokens, row.version) for row in changed] == [(10, 2), (20, 2)]
