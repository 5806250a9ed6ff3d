"""Whole journeys of the three kinds of people, with the network cut and the server restarted in the middle."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from eagle3web.domain.roles import admit_to_admin
from eagle3web.enums import Role
from eagle3web.models import Checkpoint, Run, TokenBudget
from tests.browser.conftest import Watch, sign_in
from tests.support import factories
from tests.support.servers import wait_until
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CUT = ("WebSocket connection", "ERR_CONNECTION_REFUSED", "ERR_INTERNET_DISCONNECTED")
Opener = Callable[[str, Role], Page]


@pytest.fixture
def page_of(chromium: Browser, here: World, watch: Watch) -> Opener:
    """A browser window of its own for a person with a role, signed in."""

    def open_page(name: str, role: Role) -> Page:
        user = factories.user(name, groups=(role,))
        admit_to_admin(user)
        context: BrowserContext = chromium.new_context(base_url=here.system.url, viewport={"width": 1440, "height": 900})
        context.set_default_timeout(20_000)
        context.on("page", watch.follow)
        page = context.new_page()
        sign_in(page, user)
        return page

    return open_page


def start_run(page: Page) -> Run:
    page.get_by_role("link", name="New run").first.click()
    page.get_by_label("Requests in flight").fill("4")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#run-head .pill")).to_have_text("running", timeout=60_000)
    return Run.objects.latest("pk")


def answer(page: Page, link: str, button: str) -> None:
    """Press a link that asks, and say yes."""
    page.get_by_role("link", name=link).first.click()
    page.locator("#dialog").get_by_role("button", name=button).click()
    expect(page.locator("#dialog")).to_be_hidden()


def test_budgets_are_planned_by_one_and_run_by_another_through_cuts_and_restarts(
    here: World, page_of: Opener, watch: Watch
) -> None:
    watch.expected += CUT
    here.add("B3", prompts=4000, tokens=100_000)  # more than a slow machine gets through meanwhile
    planner = page_of("planner", Role.BUDGET_ADMIN)
    planner.goto("/projects/kimi/budgets/plan/")
    planner.get_by_label("Budget of B3 in tokens").press("ArrowLeft")
    answer(planner, "Save 1 change…", "Save")
    expect(planner.locator("#toasts")).to_contain_text("1 budget is changed")
    assert TokenBudget.objects.get(dataset__slug="B3").version == 2

    page = page_of("operator", Role.OPERATOR)
    run = start_run(page)
    page.evaluate("window.here = 'the same page'")

    page.context.set_offline(True)
    expect(page.locator("#cut")).to_be_visible(timeout=20_000)
    page.context.set_offline(False)
    expect(page.locator("#cut")).to_be_hidden(timeout=40_000)

    change_in_admin(planner, here)
    expect(page.locator("#run-datasets tr", has_text="B3")).to_contain_text("3 / 3", timeout=20_000)
    expect(page.locator("#decisions")).to_contain_text("planner set B3 to 90.0 k tokens")

    here.system.restart("web")
    expect(page.locator("#live")).to_contain_text("Live", timeout=40_000)
    expect(page.locator("#cut")).to_be_hidden(timeout=40_000)
    before = here.answers(run)
    here.wait_answers(run, before + 3)
    assert page.evaluate("window.here") == "the same page"

    answer(page, "Stop…", f"Stop r{run.pk}")
    expect(page.locator("#run-head .pill")).to_have_text("stopped", timeout=60_000)
    here.wait_until_still()
    answer(page, "Resume…", f"Resume r{run.pk}")
    expect(page.locator("#run-tabs [aria-current]")).to_contain_text("Attempt 2", timeout=60_000)
    answer(page, "Stop…", f"Stop r{run.pk}")
    here.wait_status(run, "stopped")
    here.wait_until_still()
    here.check_truth(run)


def change_in_admin(page: Page, here: World) -> None:
    """In a second tab of that person."""
    budget = TokenBudget.objects.get(dataset__slug="B3")
    admin = page.context.new_page()
    admin.goto(f"/admin/eagle3web/tokenbudget/?project__id__exact={here.project.pk}")
    admin.locator("#result_list tbody tr", has_text="B3").locator("input[name$=-tokens]:not([type=hidden])").fill("90k")
    admin.get_by_role("button", name="Save", exact=True).click()
    expect(admin.locator(".messagelist")).to_be_visible()
    admin.close()
    budget.refresh_from_db()
    assert budget.tokens == 90_000


def trained(here: World) -> Checkpoint:
    """A finished training with one checkpoint, and another one to compare it with."""
    first, second = (
        factories.attempt(factories.run(here.project, stage="train", title=title), status="finished")
        for title in ("short", "long")
    )
    factories.checkpoint(first, step=100)
    for attempt in (first, second):
        for step in range(0, 50, 10):
            factories.point(attempt, "loss", 3 - step / 40, step=step)
    return factories.checkpoint(second, step=200, best=True, folder=True)


def test_drafters_are_compared_reviewed_promoted_and_taken_away(here: World, page_of: Opener) -> None:
    row = trained(here)
    page = page_of("operator", Role.OPERATOR)
    page.goto("/projects/kimi/runs/")
    for run in Run.objects.filter(stage="train"):
        page.get_by_label(f"Select r{run.pk}").check()
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/compare/**")
    expect(page.get_by_role("main")).to_contain_text("Configs")

    page.goto(f"/checkpoints/{row.pk}/")
    answer(page, "Propose…", "Propose")
    expect(page.get_by_role("main")).to_contain_text("proposed")
    other = page_of("reviewer", Role.OPERATOR)
    other.goto(f"/checkpoints/{row.pk}/")
    answer(other, "Approve…", "Approve")
    expect(page.get_by_role("main")).to_contain_text("approved", timeout=10_000)
    answer(page, "Promote…", "Promote")
    expect(page.locator("#checkpoint-head")).to_contain_text("promoted")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == f"kimi-r{row.run_id}-step-{row.step}.tar"
    row.refresh_from_db()
    assert (row.promoted, row.review) == (True, "approved")


def test_viewer_sees_everything_and_changes_nothing(here: World, page_of: Opener, watch: Watch) -> None:
    watch.expected += ("status of 403",)
    row = trained(here)
    run = here.start_run()
    here.wait_status(run, "running")
    page = page_of("viewer", Role.VIEWER)
    page.goto(f"/runs/{run.pk}/")
    expect(page.locator("#run-head .pill")).to_have_text("running", timeout=20_000)
    wait_until(lambda: page.locator("#log li[data-n]").count() > 0, "the log comes", 20)
    asking = page.get_by_role("link", name=re.compile("…$"))
    expect(asking).to_have_count(0)
    page.goto(f"/checkpoints/{row.pk}/")
    expect(asking).to_have_count(0)
    for path in (f"/runs/{run.pk}/stop/", f"/checkpoints/{row.pk}/promote/", "/projects/kimi/runs/new/"):
        page.goto(path)
        expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    here.wait_until_still()
    row.refresh_from_db()
    assert not row.promoted
