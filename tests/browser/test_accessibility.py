"""Every page, light and dark: axe-core finds no serious fault, and the page weighs little and asks nobody else."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from playwright.sync_api import Page, Response, expect

from eagle3web.models import User
from tests.browser.conftest import Watch, sign_in
from tests.support import factories
from tests.support.every_page import make_pages, missing_routes
from tests.support.system import System

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]
GRAVE = ("serious", "critical")
PAGE_WEIGHT = 250_000
"""Bytes over the wire, without Plotly."""
ON_A_PHONE = frozenset(
    {"overview", "runs", "generation", "training", "budgets", "planner", "answers", "checkpoint", "engines", "host"}
)


@pytest.fixture
def pages(page: Page, site: System, tmp_path: Path) -> dict[str, str]:
    """The addresses of all pages, for a browser in which an administrator is signed in."""
    Path(settings.EAGLE3_IMPORT_ROOT).mkdir(parents=True, exist_ok=True)
    user: User = factories.user("ada", is_superuser=True, is_staff=True)
    made = make_pages(user, tmp_path)
    sign_in(page, user)
    return made


def ready(page: Page, path: str) -> None:
    """Open a page and wait until it is live and its charts are drawn."""
    page.goto(path)
    if page.locator("#live").count():
        expect(page.locator("#live")).to_contain_text("Live")
    expect(page.locator(".chart:visible:not(:has(.main-svg))")).to_have_count(0)


def faults(axe: Axe, page: Page, *rules: str) -> list[str]:
    """What axe-core finds, by these rules or by all, one line each: rule, and the first elements."""
    # Without "violations" it would describe everything that it does not find, too, which takes as long again.
    options = {"resultTypes": ["violations"]} | ({"runOnly": [*rules]} if rules else {})
    found: list[dict[str, Any]] = axe.run(page, options=options).response["violations"]
    grave = [fault for fault in found if fault["impact"] in GRAVE]
    return [f"{fault['id']}: {' | '.join(node['html'][:150] for node in fault['nodes'][:3])}" for fault in grave]


def faults_in_each_theme(axe: Axe, page: Page) -> list[str]:
    # Without motion, so that no colour is seen on its way from one theme to the other; they differ in colours alone.
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    light = faults(axe, page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    return [f"light: {fault}" for fault in light] + [f"dark: {fault}" for fault in faults(axe, page, "color-contrast")]


def faults_on_a_phone(axe: Axe, page: Page) -> list[str]:
    wide = page.viewport_size
    assert wide is not None
    page.set_viewport_size({"width": 390, "height": 844})
    found = [f"on a phone: {fault}" for fault in faults(axe, page)]
    page.set_viewport_size(wide)
    return found


def burdens(page: Page, answers: list[Response]) -> list[str]:
    """What is wrong with what the browser was sent for a page."""
    sizes = {answer.url: answer.request.sizes()["responseBodySize"] for answer in answers}
    plotly = {url for url in sizes if "plotly" in url}
    weight = sum(size for url, size in sizes.items() if url not in plotly)
    found = [f"weighs {weight} bytes without Plotly"] if weight > PAGE_WEIGHT else []
    if bool(plotly) != bool(page.locator(".chart").count()):
        found.append("loads Plotly for no chart, or has a chart without it")
    document = next(answer for answer in answers if answer.request.is_navigation_request())
    policy = document.headers["content-security-policy"]
    if "'unsafe" in policy or "script-src 'self'" not in policy or "default-src 'self'" not in policy:
        found.append(f"is sent with a lax policy: {policy}")
    return found


def test_list_has_every_page(pages: dict[str, str]) -> None:
    assert missing_routes(pages) == set()


def test_every_page_is_light_and_has_no_grave_fault(page: Page, pages: dict[str, str], watch: Watch) -> None:
    """One visit for all that is asked of every page: to open them takes longer than to look at them."""
    watch.expected = ("status of 404",)
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    client.send("Network.setCacheDisabled", {"cacheDisabled": True})
    answers: list[Response] = []

    def keep(response: Response) -> None:
        answers.append(response)

    page.on("response", keep)
    axe, found = Axe(), {}
    for name, path in pages.items():
        answers.clear()
        ready(page, path)
        wrong = burdens(page, list(answers)) + faults_in_each_theme(axe, page)
        found[name] = wrong + faults_on_a_phone(axe, page) if name in ON_A_PHONE else wrong
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_page_that_is_cut_off_has_no_grave_fault(page: Page, pages: dict[str, str], watch: Watch) -> None:
    watch.expected = ("WebSocket connection", "ERR_INTERNET_DISCONNECTED")
    page.emulate_media(reduced_motion="reduce")
    ready(page, pages["overview"])
    page.context.set_offline(True)
    expect(page.locator("#cut")).to_be_visible(timeout=30_000)
    assert faults(Axe(), page) == []


def test_palette_and_sheet_of_keys_have_no_grave_fault(page: Page, pages: dict[str, str]) -> None:
    axe = Axe()
    page.goto(pages["overview"])
    page.keyboard.press("?")
    assert faults(axe, page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option").first).to_be_visible()
    assert faults(axe, page) == []


def test_signed_out_pages_have_no_grave_fault(page: Page, site: System, watch: Watch) -> None:
    watch.expected = ("status of 404", "status of 410")
    axe = Axe()
    for path in ("/sign-in/", "/nowhere/", "/sign-in/link/wrong"):
        page.goto(path)
        assert faults(axe, page) == []
