"""The command palette and the keys, by keyboard alone."""

import pytest
from playwright.sync_api import Page, expect

from eagle3web.models import Project, User
from tests.browser.conftest import sign_in
from tests.support import factories
from tests.support.system import System

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def user(site: System) -> User:
    factories.project(slug="kimi", name="Kimi")
    return factories.user("ada", permissions=("view_run", "change_run", "add_run"))


def test_palette_leads_to_a_run_by_keyboard(page: Page, user: User) -> None:
    run = factories.attempt(factories.run(Project.objects.get(slug="kimi"))).run
    sign_in(page, user)
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search pages, runs")
    expect(field).to_be_focused()
    options = page.get_by_role("option")
    expect(options.first).to_have_text("OverviewKimi")
    expect(field).to_have_attribute("aria-activedescendant", "hit-1-1")
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.type(f"stop {run.pk}")
    expect(options.first).to_contain_text(f"Stop r{run.pk}…")
    expect(page.locator("#palette-said")).to_have_text("1 found")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{run.pk}/stop/")


def test_palette_says_when_nothing_fits_and_gives_the_focus_back(page: Page, user: User) -> None:
    sign_in(page, user)
    button = page.get_by_role("button", name="Search")
    button.click()
    page.keyboard.type("zebra")
    expect(page.locator("#palette-said")).to_contain_text("Nothing fits “zebra”")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    expect(button).to_be_focused()


def test_palette_is_open_in_the_next_frame_whatever_the_server_does(page: Page, user: User) -> None:
    sign_in(page, user)
    page.route("**/search/**", lambda _: None)
    opened = page.evaluate(
        """() => new Promise((done) => {
          document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }));
          requestAnimationFrame(() => done(document.querySelector("#palette").open));
        })"""
    )
    assert opened is True


def test_two_keys_lead_to_a_page_and_a_question_mark_tells_them(page: Page, user: User) -> None:
    sign_in(page, user)
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_contain_text("g rRuns")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/projects/kimi/runs/")
    page.get_by_label("Search runs").fill("gr?")
    expect(sheet).to_be_hidden()
    page.keyboard.press("Escape")


def test_slash_searches_everywhere_where_the_page_has_no_search(page: Page, user: User) -> None:
    sign_in(page, user)
    page.keyboard.press("/")
    expect(page.get_by_role("combobox", name="Search pages, runs")).to_be_focused()


def test_focus_stays_on_a_control_whose_fragment_is_replaced(page: Page, user: User) -> None:
    attempt = factories.attempt(factories.run(factories.project(slug="p2")))
    sign_in(page, user)
    page.goto("/engines/")
    host = factories.host(name="gpu-01")
    link = page.get_by_role("link", name="gpu-01")
    expect(link).to_be_visible()
    link.focus()
    attempt.leases.create(host=host.name, device="cuda:0")
    expect(page.locator("#engines-hosts")).to_contain_text("cuda:0")
    expect(link).to_be_focused()
