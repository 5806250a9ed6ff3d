"""A real Chromium before a real system. Every page is watched: no error in the console, no request beyond this machine."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect
from pytest_django import Settings

from eagle3web.domain.people import make_sign_in_link
from eagle3web.models import User
from tests.support.chromium import chromium as launched
from tests.support.standing import StandingSite
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, world

# Others work on this machine, too.
expect.set_options(timeout=15_000)


class Watch:
    """What a page did that it should not."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.foreign: list[str] = []
        self.expected: tuple[str, ...] = ()
        """Parts of console errors that a test causes on purpose."""

    def follow(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._request)
        page.on("dialog", lambda dialog: self.errors.append(f"a dialog: {dialog.message}"))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(part in message.text for part in self.expected):
            self.errors.append(f"{message.text} ({message.location.get('url')})")

    def _request(self, request: Request) -> None:
        if urlsplit(request.url).scheme not in ("data", "blob") and urlsplit(request.url).hostname != "127.0.0.1":
            self.foreign.append(request.url)


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch = Watch()
    yield watch
    assert watch.foreign == []
    assert watch.errors == []


@pytest.fixture
def looked_at(request: pytest.FixtureRequest) -> System:
    """The system whose pages a test opens: the site alone, or all of it where it asks for that."""
    found: System = request.getfixturevalue("site" if "site" in request.fixturenames else "system")
    return found


@pytest.fixture
def chromium(looked_at: System, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    """A browser for one test: Playwright holds an event loop in this thread as long as it runs."""
    # Rows are read between Playwright's calls, never within one.
    monkeypatch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with launched() as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser, looked_at: System, watch: Watch) -> Iterator[Page]:
    """A laptop's window, not signed in."""
    context = chromium.new_context(
        base_url=looked_at.url, viewport={"width": 1440, "height": 900}, timezone_id="Europe/Madrid", locale="en-GB"
    )
    context.set_default_timeout(20_000)
    context.on("page", watch.follow)
    yield context.new_page()
    context.close()


@pytest.fixture
def site(standing_site: StandingSite, transactional_db: None, settings: Settings) -> System:
    """Web and broker alone, for pages whose rows a test makes itself. They stand from one test to the next."""
    system = standing_site.open()
    settings.EAGLE3_HOME = system.home
    return system


@pytest.fixture
def here(system: System, tmp_path: Path, settings: Settings) -> Iterator[World]:
    """A project with two datasets and an engine that answers slowly enough to look at."""
    # The site checks passwords with Django's own hashers.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    with world(system, tmp_path, Behaviour(latency_s=0.2, mean_tokens=60, vocab_size=300)) as found:
        found.add("B1", tokens=6000)
        # Never met by the end of a test, not on a busy machine either.
        found.add("B2", prompts=5000, tokens=200_000)
        yield found


def sign_in(page: Page, user: User) -> None:
    """With a one-time link, as the demo does it."""
    page.goto(make_sign_in_link(user))
    page.wait_for_url("**/projects/**")
