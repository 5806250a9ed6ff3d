"""An operator's day: sign in, start a run, watch it, change a budget in the admin, stop it, resume it."""

import re

import pytest
from playwright.sync_api import Page, expect

from eagle3web.domain.roles import admit_to_admin
from eagle3web.models import Run, TokenBudget
from tests.support.factories import PASSWORD
from tests.support.servers import wait_until
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def tokens_of(page: Page, dataset: str) -> float:
    """The tokens that the run's table shows for a dataset."""
    text = page.locator("#run-datasets tr", has_text=dataset).locator("td").nth(3).inner_text()
    number, unit = re.findall(r"([\d. ]+?) ?([kM]?) of", text)[0]
    return float(number.replace(" ", "")) * {"": 1, "k": 1e3, "M": 1e6}[unit]


def test_operator_starts_watches_steers_stops_and_resumes(page: Page, here: World) -> None:
    admit_to_admin(here.user)
    page.goto("/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Needs you")).to_be_visible()

    page.get_by_role("link", name="New run").first.click()
    page.get_by_label("Requests in flight").fill("4")
    page.get_by_label("Title").fill("In a browser")
    page.get_by_role("button", name="Start").click()
    run = Run.objects.get()
    # The page of a queued run leads to its first attempt by itself.
    expect(page.locator("#run-head .pill")).to_have_text("running", timeout=40_000)
    expect(page).to_have_title(f"running · r{run.pk} generate")

    before = tokens_of(page, "B1")
    wait_until(lambda: tokens_of(page, "B1") > before, "the tokens move", 20)
    expect(page.locator("#log")).to_contain_text("B1: started")
    expect(page.locator("#c-tokens")).not_to_have_class(re.compile("is-empty"), timeout=20_000)
    expect(page.locator("#live")).to_contain_text(re.compile(r"Live \d\d:\d\d:\d\d CET"))

    change_budget_in_admin(page, here)
    row = page.locator("#run-datasets tr", has_text="B2")
    expect(row).to_contain_text("2 / 2", timeout=10_000)
    expect(row).to_contain_text("of 50.0 k")
    decisions = page.locator("#decisions")
    expect(decisions).to_contain_text("ada set B2 to 50.0 k tokens")
    expect(decisions).to_contain_text("acknowledged after")

    page.get_by_role("link", name="Stop…").click()
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("are cut off, not written")
    dialog.get_by_role("button", name=f"Stop r{run.pk}").click()
    expect(page.locator("#toasts")).to_contain_text(f"r{run.pk} is asked to stop")
    here.wait_status(run, "stopped")
    expect(page.locator("#run-head .pill")).to_have_text("stopped")
    expect(page.locator("#run-tabs")).to_contain_text("stopped by ada")
    here.wait_until_still()

    page.get_by_role("link", name="Resume…").click()
    page.locator("#dialog").get_by_role("button", name=f"Resume r{run.pk}").click()
    expect(page.locator("#run-tabs [aria-current]")).to_contain_text("Attempt 2", timeout=40_000)
    expect(page.locator("#run-head .pill")).to_have_text("running", timeout=20_000)
    expect(page.locator("#log")).not_to_contain_text("interrupted")
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    here.wait_until_still()
    here.check_truth(run)


def change_budget_in_admin(page: Page, here: World) -> None:
    """In a second tab, in the admin's list."""
    budget = TokenBudget.objects.get(dataset__slug="B2")
    admin = page.context.new_page()
    admin.goto(f"/admin/eagle3web/tokenbudget/?project__id__exact={here.project.pk}")
    row = admin.locator("#result_list tbody tr", has_text="B2")
    row.locator("input[name$=-tokens]:not([type=hidden])").fill("50k")
    admin.get_by_role("button", name="Save", exact=True).click()
    expect(admin.locator(".messagelist")).to_be_visible()
    admin.close()
    budget.refresh_from_db()
    assert (budget.tokens, budget.version) == (50_000, 2)
