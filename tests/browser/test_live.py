"""What a page does while things go wrong: a silent process, a server that is away, a network that is cut."""

import re
import signal
import time

import pytest
from playwright.sync_api import Page, expect

from eagle3web.models import Run
from tests.browser.conftest import Watch, sign_in
from tests.support import factories
from tests.support.system import System
from tests.support.world import World, kill

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LINES = "() => [...document.querySelectorAll('#log li[data-n]')].map((line) => Number(line.dataset.n))"
REFUSED = ("WebSocket connection", "ERR_CONNECTION_REFUSED", "ERR_INTERNET_DISCONNECTED")


@pytest.fixture
def run(here: World) -> Run:
    run = here.start_run()
    here.wait_status(run, "running")
    here.wait_answers(run, 4)
    return run


def end(here: World, run: Run) -> None:
    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    here.wait_until_still()


@pytest.mark.alone
def test_silent_process_is_called_silent_within_five_seconds(page: Page, here: World, run: Run) -> None:
    sign_in(page, here.user)
    page.goto(f"/runs/{run.pk}/")
    pill = page.locator("#run-head .pill")
    expect(pill).to_have_text("running")
    attempt = here.attempt(run, 1)
    stopped = kill(attempt.pid, signal.SIGSTOP)
    try:
        expect(pill).to_have_text("silent", timeout=8_000)
        assert time.monotonic() - stopped < 6.0
        expect(page.locator("#run-trouble")).to_contain_text("Its loop has not turned for")
        expect(page).to_have_title(re.compile(r"^\(1!\) silent"))
        # The supervisor lives: its heartbeat stays young.
        said = page.locator("#run-facts .faint", has_text="supervisor").inner_text()
        assert said in {f"supervisor {n}\u00a0s" for n in range(5)}
    finally:
        kill(attempt.pid, signal.SIGCONT)
    expect(pill).to_have_text("running", timeout=8_000)
    end(here, run)


def test_page_says_that_the_server_is_away_and_catches_up_without_a_reload(
    page: Page, here: World, run: Run, watch: Watch
) -> None:
    watch.expected += REFUSED
    sign_in(page, here.user)
    page.goto(f"/runs/{run.pk}/")
    expect(page.locator("#live")).to_contain_text("Live")
    page.evaluate("window.here = 'the same page'")
    here.system.kill("web")
    banner = page.locator("#cut")
    expect(banner).to_contain_text(re.compile(r"Reconnecting since \d\d:\d\d:\d\d CET"))
    expect(page.locator("#live")).to_have_text("Reconnecting")
    clock = page.locator("#run-facts .clock b").first
    stood = clock.inner_text()
    page.wait_for_timeout(1500)
    assert clock.inner_text() == stood
    page.get_by_role("button", name="Try now").click()
    expect(banner).to_be_visible()
    here.system.start("web")
    expect(banner).to_be_hidden(timeout=30_000)
    expect(page.locator("#live")).to_contain_text("Live")
    end(here, run)
    expect(page.locator("#run-head .pill")).to_have_text("stopped")
    assert page.evaluate("window.here") == "the same page"
    numbers = page.evaluate(LINES)
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert numbers[-1] == here.attempt(run, 1).log_lines


def test_viewer_without_a_network_misses_no_line(page: Page, site: System, watch: Watch) -> None:
    watch.expected += REFUSED
    attempt = factories.attempt(status="finished")
    factories.log(attempt, "".join(f"line {n}\n" for n in range(1, 301)))
    sign_in(page, factories.user(permissions=("view_run",)))
    page.goto(f"/runs/{attempt.run_id}/")
    expect(page.locator("#log li[data-n='300']")).to_be_visible()
    page.context.set_offline(True)
    expect(page.locator("#cut")).to_be_visible(timeout=15_000)
    factories.log(attempt, "".join(f"line {n}\n" for n in range(301, 3001)))
    page.context.set_offline(False)
    expect(page.locator("#log li[data-n='3000']")).to_be_visible(timeout=30_000)
    assert page.evaluate(LINES) == list(range(1, 3001))


def test_log_is_searched_followed_and_read_from_its_start(page: Page, site: System) -> None:
    attempt = factories.attempt(status="finished")
    for start in range(0, 6000, 500):
        factories.log(
            attempt, "".join(f"line {n}{' needle' if n % 1000 == 7 else ''}\n" for n in range(start + 1, start + 501))
        )
    sign_in(page, factories.user(permissions=("view_run",)))
    page.goto(f"/runs/{attempt.run_id}/")
    expect(page.locator("#log li[data-n='6000']")).to_be_visible()
    expect(page.locator("[data-log-earlier]")).to_contain_text("5 500 earlier lines")

    page.get_by_label("Search this log").fill("NEEDLE")
    expect(page.locator("[data-log-hits]")).to_have_text("6 lines")
    assert page.evaluate(LINES) == [7, 1007, 2007, 3007, 4007, 5007]
    expect(page.locator("#log mark")).to_have_count(6)

    page.locator("#log li[data-n='3007']").click()
    expect(page.locator("#log li.is-found")).to_have_attribute("data-n", "3007")
    page.get_by_role("button", name="To start").click()
    expect(page.locator("#log li[data-n='1']")).to_be_visible()
    expect(page.locator("[data-log-head]")).to_be_visible()
    page.locator("[data-log-follow]").click()
    expect(page.locator("#log li[data-n='6000']")).to_be_visible()
    factories.log(attempt, "one more\n")
    expect(page.locator("#log li[data-n='6001']")).to_be_visible()


def test_samples_that_cannot_be_loaded_say_so_and_are_tried_again(page: Page, site: System, watch: Watch) -> None:
    watch.expected += (*REFUSED, "htmx:")
    attempt = factories.attempt(status="finished")
    factories.event(attempt, "sample_logged", dataset="B1", prompt="What is a drafter?", answer="A small model.")
    sign_in(page, factories.user(permissions=("view_run",)))
    page.goto(f"/runs/{attempt.run_id}/")
    expect(page.locator("#live")).to_contain_text("Live")
    site.kill("web")
    page.get_by_role("button", name="Sample answers").click()
    drawer = page.locator("#samples")
    expect(drawer.get_by_role("alert")).to_contain_text("The server does not answer.")
    site.start("web")
    drawer.get_by_role("button", name="Try again").click()
    expect(drawer.locator(".prompt")).to_have_text("What is a drafter?")
    expect(drawer.get_by_role("alert")).to_have_count(0)


def test_log_shows_times_in_the_readers_zone_and_is_searched_as_it_was_written(page: Page, site: System) -> None:
    attempt = factories.attempt(status="finished")
    factories.log(attempt, "2026-01-15T11:24:12.345Z INFO B1: started\nTraceback\n2026-99-15T11:24:12.345Z no such day\n")
    sign_in(page, factories.user(permissions=("view_run",)))
    page.goto(f"/runs/{attempt.run_id}/")
    lines = page.locator("#log li[data-n]")
    expect(lines.first.locator("time")).to_have_text("12:24:12")
    expect(lines.first.locator("time")).to_have_attribute("title", "15 January 2026 at 12:24:12 CET")
    expect(lines.first.locator("> :last-child")).to_have_text("INFO B1: started")
    expect(lines.locator("time")).to_have_count(1)
    expect(lines.last.locator("> :last-child")).to_have_text("2026-99-15T11:24:12.345Z no such day")
    expect(page.locator("#log-card header")).to_contain_text("times in CE")
    page.get_by_label("Search this log").fill("11:24:12.345z info")
    expect(lines).to_have_count(1)
    page.get_by_label("Search this log").fill("t11:24:12")
    expect(lines.locator("time mark")).to_have_text("12:24:12")
