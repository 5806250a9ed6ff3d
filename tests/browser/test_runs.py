"""A list of runs as people work with it: stars, tags, columns, a selection over pages, a comparison, a chart that is zoomed."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from eagle3web.models import Attempt, MetricPoint, Project, Run, SavedView, Star, User
from tests.browser.conftest import sign_in
from tests.support import factories
from tests.support.system import System

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LONG = 12_000


@pytest.fixture
def user(transactional_db: None) -> User:
    return factories.user("ada", permissions=("view_run", "change_run", "add_run"))


@pytest.fixture
def project(user: User, site: System) -> Project:
    project = factories.project(slug="kimi", name="Kimi-K2.5 drafter")
    for n in range(30):
        config = {"optimizer": {"learning_rate": (n + 1) * 1e-5}, "epochs": 2}
        run = factories.run(project, author=user, stage="train", config=config, loss=2 - n / 100, tags=["nightly"])
        attempt = factories.attempt(run, status="finished", ended_at=timezone.now())
        MetricPoint.objects.bulk_create(
            MetricPoint(attempt=attempt, name="loss", t=timezone.now(), step=step, value=3 - step / 10) for step in range(9)
        )
    return project


@pytest.fixture
def long_training(project: Project) -> Attempt:
    attempt = factories.attempt(factories.run(project, stage="train"), status="finished", ended_at=timezone.now())
    MetricPoint.objects.bulk_create(
        (
            MetricPoint(attempt=attempt, name="loss", t=timezone.now(), step=step, value=1 + 2 / (1 + step / 500))
            for step in range(LONG)
        ),
        batch_size=1000,
    )
    return attempt


def test_rows_are_starred_tagged_and_filtered_in_place(page: Page, project: Project, user: User) -> None:
    sign_in(page, user)
    page.goto("/projects/kimi/runs/")
    row = page.locator("#runs-table tbody tr").first
    row.get_by_role("button", name=re.compile("Star r")).click()
    expect(row.get_by_role("button", name=re.compile("Star r"))).to_have_attribute("aria-pressed", "true")
    row.get_by_role("link", name=re.compile("Edit the tags")).click()
    row.get_by_label(re.compile("Add a tag")).fill("keeper")
    page.keyboard.press("Enter")
    expect(row.get_by_role("button", name="Remove the tag keeper")).to_be_visible()
    row.get_by_role("button", name="Done").click()
    expect(row.locator(".tag").last).to_have_text("keeper")
    page.get_by_label("Search runs").fill("keeper")
    expect(page.locator("#runs-table tbody tr")).to_have_count(1)
    assert page.url.endswith("/projects/kimi/runs/?q=keeper")
    page.get_by_role("button", name="Columns").click()
    page.locator("#columns").get_by_label("Held-out loss").check()
    page.get_by_role("button", name="Show these").click()
    expect(page.locator("th", has_text="Held-out loss")).to_be_visible()
    page.get_by_role("button", name="Views").click()
    page.get_by_label("Save this view as").fill("keepers")
    page.get_by_role("button", name="Save view").click()
    expect(page.locator("#toasts")).to_contain_text("The view “keepers” is saved")
    assert (Star.objects.count(), SavedView.objects.get().query.startswith("q=keeper&cols=")) == (1, True)


def test_selection_spans_pages_and_leads_to_a_comparison(page: Page, project: Project, user: User) -> None:
    sign_in(page, user)
    page.goto("/projects/kimi/runs/")
    expect(page.locator("#runs-chosen")).to_be_hidden()
    page.locator("#runs-table input[name=runs]").first.check()
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("#runs-table tbody tr")).to_have_count(5)
    page.locator("#runs-table input[name=runs]").last.check()
    expect(page.locator("#runs-chosen")).to_contain_text("2 selected")
    page.get_by_role("button", name="Tag…").click()
    page.locator("#dialog").get_by_label("Add").fill("pair")
    page.get_by_role("button", name="Change tags").click()
    expect(page.locator("#runs-table tbody tr").last.locator(".tag").last).to_have_text("pair")
    assert Run.objects.filter(tags__icontains='"pair"').count() == 2
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#c-loss .main-svg").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("optimizer.learning_rate")
    expect(page.locator("main")).to_contain_text("1 key is the same.")
    slider = page.locator("[data-smooths]").first
    slider.focus()
    page.keyboard.press("End")
    expect(page).to_have_url(re.compile("smooth=0.99"))
    assert page.locator("#c-loss .scatterlayer .trace").count() == 4


def test_long_chart_is_sampled_and_shows_all_points_of_a_part(page: Page, long_training: Attempt, user: User) -> None:
    sign_in(page, user)
    page.goto(f"/runs/{long_training.run_id}/")
    chart = page.locator("#c-loss")
    expect(chart.locator(".main-svg").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("2 000 of 12 000 points are drawn")
    chart.scroll_into_view_if_needed()
    box = chart.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 10, middle, steps=4)
    page.mouse.move(box["x"] + box["width"] / 2 + 30, middle, steps=4)
    page.mouse.up()
    whole = chart.get_by_role("button", name=re.compile("show the whole"))
    expect(whole).to_contain_text("All")
    steps = page.evaluate("document.getElementById('c-loss').zoomed.lines.loss.x")
    assert steps == list(range(steps[0], steps[-1] + 1))
    whole.click()
    expect(whole).to_be_hidden()
