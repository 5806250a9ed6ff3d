"""Planning in a browser without a script, and saving."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from eagle3web.models import AuditEntry, Project, TokenBudget
from tests.eagle3web.views.conftest import client_of
from tests.support import factories

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def project() -> Project:
    project = factories.project()
    for slug in ("B1", "B2"):
        dataset = factories.dataset(slug=slug)
        factories.revision(dataset, accepted=100_000)
        factories.budget(project, dataset, tokens=10_000_000)
    return project


@pytest.fixture
def planner(db: None) -> Client:
    return client_of("view_run", "change_tokenbudget")


QUERY = "?scale=20000000&on=B1&on=B2&budget.B1=12000000&budget.B2=10000000&speed=100"


def place(project: Project, name: str = "plan", query: str = QUERY) -> str:
    return reverse(name, args=[project.slug]) + query


def edits(project: Project, **changes: list[str]) -> dict[str, list[str]]:
    (budget,) = project.budgets.filter(dataset__slug="B1")
    fields = {"budget": [str(budget.pk)], "version": ["1"], "tokens": ["12000000"], "enabled": ["1"]}
    return fields | changes


def test_the_address_says_everything(
    viewer: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(32):
        page = viewer.get(place(project)).content.decode()
    assert "22.00\u00a0M budgeted" in page
    assert "was 10.00 M" in page
    assert 'name="budget.B1" min="0" max="20000000"' in page
    assert "61 h 07 min" in page or "2 d 13 h" in page
    assert "a budget admin can save it" in page


def test_a_moved_slider_gets_numbers_alone(planner: Client, project: Project) -> None:
    page = planner.get(place(project), headers=HTMX).content.decode()
    assert "<html" not in page
    assert page.count('hx-swap-oob="true"') == 3 + 2 * 3 + 4
    assert "Save 1 change…" in page


def test_a_project_without_budgets_says_what_to_do(viewer: Client) -> None:
    page = viewer.get(place(factories.project(), query="")).content.decode()
    assert "Nothing to plan yet" in page


def test_saving_asks_with_old_and_new(planner: Client, project: Project) -> None:
    page = planner.get(place(project, "plan-save")).content.decode()
    assert "Save 1 change of budgets?" in page
    assert "10.00 M</td>" in page
    assert "<b>12.00 M</b>" in page
    assert "nothing to save" in planner.get(place(project, "plan-save", "")).content.decode()


def test_saving_goes_through_versions_and_the_audit_trail(planner: Client, project: Project) -> None:
    done = planner.post(place(project, "plan-save"), edits(project), headers=HTMX)
    assert (done.status_code, done.headers["HX-Redirect"].startswith(place(project, query="?"))) == (204, True)
    budget = project.budgets.get(dataset__slug="B1")
    assert (budget.tokens, budget.version) == (12_000_000, 2)
    assert AuditEntry.objects.get().detail["changes"] == {"tokens": [10_000_000, 12_000_000]}
    plain = planner.post(place(project, "plan-save"), edits(project, version=["2"], tokens=[""]))
    assert plain.status_code == 302
    budget.refresh_from_db()
    assert budget.tokens is None


def test_somebody_elses_edit_is_never_overwritten_and_nothing_is_saved(planner: Client, project: Project) -> None:
    first, second = project.budgets.order_by("dataset__slug")
    TokenBudget.objects.filter(pk=second.pk).update(version=2)
    both = {
        "budget": [str(first.pk), str(second.pk)], "version": ["1", "1"], "tokens": ["1", "2"], "enabled": ["1", "1"],
    }  # fmt: skip
    answer = planner.post(place(project, "plan-save"), both, headers=HTMX)
    assert answer.status_code == 409
    assert "changed the budget of B2 to version 2" in answer.content.decode()
    first.refresh_from_db()
    assert first.tokens == 10_000_000


@pytest.mark.parametrize(
    "changes", [{"budget": ["999999"]}, {"version": ["x"]}, {"tokens": ["many"]}, {"tokens": []}, {"enabled": ["1", "0"]}]
)
def test_a_broken_form_saves_nothing(planner: Client, project: Project, changes: dict[str, list[str]]) -> None:
    answer = planner.post(place(project, "plan-save"), edits(project, **changes))
    assert answer.status_code == 422
    assert project.budgets.filter(version=1).count() == 2


def test_only_budget_admins_save(viewer: Client, operator: Client, project: Project) -> None:
    for client in (viewer, operator):
        assert client.get(place(project, "plan-save")).status_code == 403
        assert client.post(place(project, "plan-save"), edits(project)).status_code == 403
