"""Answers and plans as people use them: one is opened, flagged and excluded; a slider moves the numbers, a budget is saved."""

import re

import pytest
from playwright.sync_api import Page, expect

from eagle3web.models import AnswerFlag, Project, TokenBudget, User
from tests.browser.conftest import sign_in
from tests.support import factories
from tests.support.system import System

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def user(transactional_db: None) -> User:
    return factories.user("ada", permissions=("view_run", "add_answerflag", "change_answerflag", "change_tokenbudget"))


@pytest.fixture
def project(transactional_db: None) -> Project:
    """Two datasets with sixty answers each."""
    project = factories.project(slug="k2")
    for slug in ("B1", "B2"):
        dataset = factories.dataset(slug=slug)
        factories.revision(dataset, accepted=1_000_000)
        factories.budget(project, dataset, tokens=10_000_000)
        factories.answer_file(project, dataset=slug)
        for n in range(60):
            factories.stored_answer(
                project, dataset=slug, prompt=f"{slug} question {n}", text=f"answer {n}", tokens=n + 1, repetition=n / 100
            )
    return project


def test_an_answer_is_found_flagged_and_excluded(page: Page, site: System, user: User, project: Project) -> None:
    sign_in(page, user)
    page.goto("/projects/k2/answers/?dataset=B1")
    expect(page.locator("#c-a-lengths .main-svg").first).to_be_visible()
    expect(page.locator("#answers-table tbody tr")).to_have_count(50)
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("#answers-table tbody tr")).to_have_count(10)
    expect(page).to_have_url(re.compile(r"after="))
    page.get_by_label("Search prompt and answer").fill("question 42")
    expect(page.locator("#answers-table tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"q=question"))
    page.get_by_role("link", name="B1 question 42").click()
    drawer = page.locator("#answer")
    expect(drawer).to_be_visible()
    expect(drawer).to_contain_text("is not on this host")
    drawer.get_by_label("What is wrong with it?").fill("it loops")
    drawer.get_by_role("button", name="Flag").click()
    expect(drawer).to_contain_text("flagged by ada")
    drawer.get_by_role("button", name="Exclude").click()
    expect(drawer).to_contain_text("excluded by ada")
    assert AnswerFlag.objects.get().state == "excluded"
    page.goto("/projects/k2/answers/review/?state=excluded")
    expect(page.locator("main")).to_contain_text("it loops")


def test_another_dataset_brings_its_own_charts(page: Page, site: System, user: User, project: Project) -> None:
    sign_in(page, user)
    page.goto("/projects/k2/answers/")
    page.locator("select[name=dataset]").select_option("B2")
    expect(page.locator("#answers-summary")).to_contain_text("All answers of B2")
    expect(page.locator("#answers-table")).to_contain_text("B2 question 59")
    expect(page.locator("#c-a-ends .main-svg").first).to_be_visible()


def test_a_slider_moves_the_numbers_and_a_budget_is_saved(page: Page, site: System, user: User, project: Project) -> None:
    sign_in(page, user)
    page.goto("/projects/k2/budgets/plan/")
    stats = page.locator("#plan-stats")
    expect(stats).to_contain_text("of 20.00 M budgeted")
    page.get_by_label("Budget of B1 in tokens").fill("14000000")
    expect(stats).to_contain_text("of 24.00 M budgeted")
    expect(page.locator(".plan")).to_contain_text("was 10.00 M")
    expect(page).to_have_url(re.compile(r"budget\.B1=14000000"))
    page.get_by_label("Speed of an engine").fill("100")
    expect(stats).to_contain_text("at 100 tok/s")
    page.reload()
    expect(stats).to_contain_text("of 24.00 M budgeted")
    page.get_by_role("link", name="Save 1 change…").click()
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("14.00 M")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("#toasts")).to_contain_text("1 budget is changed")
    assert TokenBudget.objects.get(dataset__slug="B1").tokens == 14_000_000
    expect(page.locator("#plan-save")).to_contain_text("No budget is changed")
