"""Every page as people see it: on a laptop and a phone, light and dark, by keyboard, with hostile text in it."""

import json
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from eagle3web.domain.datasets import import_file
from eagle3web.models import Attempt, User
from tests.browser.conftest import sign_in
from tests.support import factories
from tests.support.factories import HOSTILE
from tests.support.system import System

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SEEN = '<script>alert("x")</script>{{ 7|add:7 }}{% now "Y" %}␛[31mred␛[0m␇␀⟨U+202E⟩&amp;<b>bold</b>'
"""How HOSTILE reads on a page."""


WIDTHS = (1440, 1024, 768, 390)


@pytest.fixture
def user(transactional_db: None) -> User:
    return factories.user("ada", permissions=("view_run", "change_run", "add_run", "add_dataset", "add_engine"))


@pytest.fixture
def attempt(user: User, site: System, tmp_path: Path) -> Attempt:
    """A run at work, with everything that a page can show, and hostile text wherever people or files can put it."""
    project = factories.project(slug="kimi", name="Kimi-K2.5 drafter")
    rows = [{"id": f"p{n}", "prompt": f"Question {n} {HOSTILE.replace(chr(0), '')}"} for n in range(60)]
    source = tmp_path / "B1_glaive.jsonl"
    source.write_text("\n".join(json.dumps(row) for row in rows) + f"\nnot json {HOSTILE}\n")
    revision = import_file(source, slug="B1_glaive", user=user)
    assert revision.error == ""
    run = factories.run(project, author=user, title=HOSTILE, tags=["nightly", HOSTILE])
    factories.attempt(run, status="failed", reason=f"failed: {HOSTILE}", signal=9)
    attempt = factories.attempt(run, config={"engines": [], "note": HOSTILE}, argv=["python", HOSTILE])
    names = ("B1_glaive", "B2_opencodeinstruct", "B3_openmath", "B4_ultrachat", "B5_xlam_tools", "B6_longwriter")
    for place, name in enumerate(names):
        dataset = revision.dataset if place == 0 else factories.revision(factories.dataset(slug=name)).dataset
        factories.budget(project, dataset, position=place)
        state = ("skipped", "finished", "running", "pending", "pending", "pending")[place]
        factories.progress(attempt, dataset=name, position=place, state=state, reason="budget_met" if place < 2 else "")
        factories.event(attempt, "lengths_counted", dataset=name, width=64, counts=[place, 3, 2])
        for value in range(5):
            factories.point(attempt, "tokens", value * 1e6, series=name)
    factories.event(attempt, "warning", text=HOSTILE, dataset="B3_openmath")
    factories.event(
        attempt, "sample_logged", dataset="B3_openmath", prompt=HOSTILE, answer=f"<think>{HOSTILE}</think>{HOSTILE}"
    )
    factories.log(attempt, f"first line\nERROR {HOSTILE}\n{'x' * 1_000_000}\nlast line\nunfinished")
    factories.engine(name="kimi-a", url="http://gpu-07.rack-12.example:30000")
    factories.engine(name="kimi-b", state="down", reason=HOSTILE)
    factories.host()
    for n in range(30):
        factories.attempt(factories.run(project, author=user, tags=["nightly"]), status="finished", reason=f"done {n}")
    Path(settings.EAGLE3_IMPORT_ROOT).mkdir(parents=True, exist_ok=True)
    return attempt


def paths(attempt: Attempt) -> dict[str, str]:
    run = f"/runs/{attempt.run_id}/"
    return {
        "overview": "/projects/kimi/", "budgets": "/projects/kimi/budgets/", "runs": "/projects/kimi/runs/",
        "new pipeline": "/projects/kimi/runs/new/pipeline/", "new training": "/projects/kimi/runs/new/train/",
        "new run": "/projects/kimi/runs/new/", "run": run, "first attempt": f"{run}attempts/1/", "stop": f"{run}stop/",
        "datasets": "/datasets/", "dataset": "/datasets/B1_glaive/", "import": "/datasets/import/",
        "engines": "/engines/", "register": "/engines/register/",
    }  # fmt: skip


def test_pages_fit_the_window(page: Page, attempt: Attempt, user: User) -> None:
    sign_in(page, user)
    too_wide = {}
    for name, path in paths(attempt).items():
        page.goto(path)
        if page.locator("#live").count():
            expect(page.locator("#live")).to_contain_text("Live")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844})
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if over > 0:
                too_wide[name, width] = over
    assert too_wide == {}


def test_tables_are_whole_on_a_laptop(page: Page, attempt: Attempt, user: User) -> None:
    sign_in(page, user)
    cut = {}
    for name, path in paths(attempt).items():
        page.goto(path)
        page.locator("main").wait_for()
        hidden = "(boxes) => boxes.map((box) => box.scrollWidth - box.clientWidth).filter((over) => over > 0)"
        if over := page.locator(".table-wrap").evaluate_all(hidden):
            cut[name] = over
    assert cut == {}


def test_hostile_text_is_text_in_the_page(page: Page, attempt: Attempt, user: User) -> None:
    sign_in(page, user)
    page.goto(f"/runs/{attempt.run_id}/")
    expect(page.locator("h1")).to_contain_text(SEEN)
    expect(page.locator("#run-head .tag").last).to_have_text(SEEN)
    expect(page.locator("#decisions")).to_contain_text(SEEN)
    expect(page.locator("#log li[data-n='2']")).to_contain_text(f"ERROR {SEEN}")
    expect(page.locator("#log li[data-n='2'] .err")).to_be_visible()
    expect(page.locator("#log li[data-n='3']")).to_contain_text("998.0 k bytes more in the download")
    expect(page.locator("#log-open")).to_contain_text("unfinished")
    page.get_by_role("button", name="Sample answers").click()
    expect(page.locator("#samples .prompt")).to_have_text(SEEN)
    expect(page.locator("#samples pre.think")).to_have_text(f"<think>{SEEN}</think>")
    page.keyboard.press("Escape")
    page.goto("/datasets/B1_glaive/")
    expect(page.locator("#prompts pre").first).to_contain_text(SEEN.replace("␀", ""))
    page.goto("/engines/")
    expect(page.locator("#engines-table")).to_contain_text(SEEN)
    assert page.evaluate("document.querySelectorAll('main script:not([type=\"application/json\"])').length") == 0


def test_charts_show_their_numbers_as_a_table(page: Page, attempt: Attempt, user: User) -> None:
    sign_in(page, user)
    page.goto(f"/runs/{attempt.run_id}/")
    expect(page.locator("#c-tokens .main-svg").first).to_be_visible()
    page.get_by_role("button", name="Show the numbers of “Tokens over time” as a table").click()
    expect(page.locator("#c-tokens")).to_be_hidden()
    expect(page.locator("#c-tokens + .chart-table th").nth(3)).to_have_text("B3_openmath")
    page.get_by_label("Dataset", exact=True).select_option("B6_longwriter")
    page.get_by_role("button", name="Show the numbers of “Answer length” as a table").click()
    expect(page.locator("#c-answers + .chart-table tbody tr").first).to_contain_text("5")


def test_everything_is_reached_by_keyboard(page: Page, attempt: Attempt, user: User) -> None:
    sign_in(page, user)
    page.goto(f"/runs/{attempt.run_id}/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Search this log")).to_be_focused()
    page.get_by_role("link", name="Stop…").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Keep running")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()
    expect(page.get_by_role("link", name="Stop…")).to_be_focused()


def test_focus_comes_back_to_a_control_that_was_replaced_behind_a_dialog(page: Page, attempt: Attempt, user: User) -> None:
    sign_in(page, user)
    page.goto(f"/runs/{attempt.run_id}/")
    stop = page.get_by_role("link", name="Stop…")
    stop.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Keep running")).to_be_focused()
    page.evaluate("const old = document.querySelector('#main a[href$=\"/stop/\"]'); old.replaceWith(old.cloneNode(true))")
    page.keyboard.press("Escape")
    expect(stop).to_be_focused()


def test_list_of_runs_keeps_its_view_in_the_address(page: Page, attempt: Attempt, user: User) -> None:
    sign_in(page, user)
    page.goto("/projects/kimi/runs/")
    page.get_by_label("Search runs").fill("nightly")
    page.wait_for_url("**q=nightly**")
    page.get_by_role("combobox", name="State").select_option("finished")
    page.wait_for_url("**state=finished**")
    page.get_by_role("link", name="Created").click()
    page.wait_for_url("**sort=started**")
    rows = page.locator("#runs-table tbody tr")
    expect(rows).to_have_count(25)
    page.get_by_role("link", name="Next page").click()
    page.wait_for_url("**page=2**")
    expect(rows).to_have_count(5)
    page.reload()
    expect(rows).to_have_count(5)
    expect(page.get_by_label("Search runs")).to_have_value("nightly")
    page.go_back()
    expect(rows).to_have_count(25)


def test_new_run_appears_in_an_open_list(page: Page, attempt: Attempt, user: User) -> None:
    sign_in(page, user)
    page.goto("/projects/kimi/runs/")
    expect(page.locator("#live")).to_contain_text("Live")
    new = factories.attempt(factories.run(attempt.run.project, author=user))
    expect(page.locator("#runs-table tbody tr").first).to_contain_text(f"r{new.run_id}")
    expect(page.locator("#nav-runs")).to_have_text("2 live")


def test_theme_is_switched_and_remembered(page: Page, attempt: Attempt, user: User) -> None:
    sign_in(page, user)
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Switch between light and dark").click()
    dark = page.evaluate(background)
    assert dark != light
    page.reload()
    assert page.evaluate(background) == dark
