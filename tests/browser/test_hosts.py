"""Charts of machines: they grow while somebody looks, and break where nothing was heard."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.browser.conftest import sign_in
from tests.support import factories
from tests.support.servers import wait_until
from tests.support.system import System

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CPU = "document.getElementById('c-load').figure.data[0].y"


def test_chart_of_a_host_grows_and_breaks_at_a_gap(page: Page, site: System) -> None:
    host, now = factories.host(name="gpu-01"), timezone.now()
    for age in (3700, 140, 130, 120):
        factories.host_sample(host, at=now - timedelta(seconds=age), cpu_percent=age / 10)
    factories.project(slug="kimi")
    sign_in(page, factories.user(permissions=("view_run",)))
    page.goto("/hosts/gpu-01/")
    expect(page.locator("#c-load .main-svg").first).to_be_visible()
    assert page.evaluate(CPU) == [14, 13, 12]
    expect(page.locator("#live")).to_contain_text("Live")
    factories.host_sample(host, cpu_percent=55.0)
    wait_until(lambda: page.evaluate(CPU) == [14, 13, 12, None, 55], "the newest sample is drawn", 20)
    page.get_by_role("button", name="Show the numbers of “CPU, memory and disk” as a table").click()
    expect(page.locator("#c-load + .chart-table th")).to_have_text(["", "CPU", "memory", "disk"])
    page.get_by_role("link", name="last 24 hours").click()
    page.wait_for_url("**span=24h")
    wait_until(lambda: page.evaluate(f"{CPU}?.[0]") == 370, "the day is drawn", 20)
