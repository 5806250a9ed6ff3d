"""Budgets over the API: versions, conflicts, history."""

import pytest

from eagle3web.enums import Role
from eagle3web.models import AuditEntry, TokenBudget
from tests.support import factories as make
from tests.support.api import caller

pytestmark = pytest.mark.django_db


def test_change_with_the_version_that_was_read_is_saved() -> None:
    budget = make.budget(tokens=10_000_000)
    api = caller("ada", Role.BUDGET_ADMIN)
    answer = api.patch(f"/api/budgets/{budget.pk}", {"version": 1, "tokens": 5_000_000})
    assert (answer.status_code, answer.json()["version"], answer.json()["tokens"]) == (200, 2, 5_000_000)
    assert str(AuditEntry.objects.get(verb="budget.change").user) == "ada"
    history = api.get(f"/api/budgets/{budget.pk}/history").json()
    assert [(row["version"], row["tokens"], row["changed_by"]) for row in history["items"]] == [
        (2, 5_000_000, "ada"),
        (1, 10_000_000, None),
    ]


def test_change_with_an_older_version_is_a_conflict_that_names_the_other_values() -> None:
    budget = make.budget(tokens=10_000_000)
    caller("ada", Role.BUDGET_ADMIN).patch(f"/api/budgets/{budget.pk}", {"version": 1, "tokens": 5_000_000})
    answer = caller("ben", Role.BUDGET_ADMIN).patch(f"/api/budgets/{budget.pk}", {"version": 1, "tokens": 8_000_000})
    assert answer.status_code == 409
    assert answer.json()["changed_by"] == "ada"
    assert (answer.json()["budget"]["version"], answer.json()["budget"]["tokens"]) == (2, 5_000_000)
    assert TokenBudget.objects.get().tokens == 5_000_000


def test_null_means_no_budget_and_what_is_left_out_stays() -> None:
    budget = make.budget(tokens=10, max_samples=7)
    caller("ada", Role.BUDGET_ADMIN).patch(f"/api/budgets/{budget.pk}", {"version": 1, "tokens": None})
    assert list(TokenBudget.objects.values_list("tokens", "max_samples")) == [(None, 7)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"tokens": 1}, "version"),
        ({"version": 1, "tokens": "2o48"}, "tokens"),
        ({"version": 1, "tokens": "2048"}, "tokens"),
        ({"version": 1, "tokens": True}, "tokens"),
        ({"version": 1, "tokens": 1.5}, "tokens"),
        ({"version": 1, "tokens": -1}, "tokens"),
        ({"version": 1, "tokens": 10**30}, "tokens"),
        ({"version": 1, "max_samples": 2**31}, "max_samples"),
        ({"version": 1, "token": 1}, "token"),
        ({"version": 1, "sampling": {"temprature": 1}}, "sampling"),
        ({"version": 1, "sampling": {"top_p": 0}}, "sampling"),
    ],
)
def test_bad_input_is_refused_by_field(body: dict[str, object], field: str) -> None:
    budget = make.budget(tokens=10)
    answer = caller("ada", Role.BUDGET_ADMIN).patch(f"/api/budgets/{budget.pk}", body)
    assert (answer.status_code, [error["field"] for error in answer.json()["errors"]]) == (422, [field])
    assert field in answer.json()["detail"]
    assert list(TokenBudget.objects.values_list("tokens", "version")) == [(10, 1)]


def test_budget_is_added_to_a_project_once() -> None:
    project, dataset = make.project(slug="k2"), make.dataset(slug="B1_glaive")
    api = caller("ada", Role.BUDGET_ADMIN)
    body = {"dataset": dataset.slug, "tokens": 10_000_000}
    answer = api.post("/api/projects/k2/budgets", body)
    assert (answer.status_code, answer.json()["project"], answer.json()["dataset"]) == (201, "k2", "B1_glaive")
    assert api.post("/api/projects/k2/budgets", body).status_code == 422
    assert [row["dataset"] for row in api.get("/api/projects/k2/budgets").json()["items"]] == ["B1_glaive"]
    assert project.budgets.count() == 1


def test_unknown_budget_is_404() -> None:
    answer = caller("ada", Role.BUDGET_ADMIN).patch("/api/budgets/99", {"version": 1})
    assert (answer.status_code, answer.json()) == (404, {"detail": "There is no such thing."})
