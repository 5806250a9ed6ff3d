"""What people say and are told, on pages of two people at once."""

import re

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from eagle3web.domain import comments
from eagle3web.enums import AttemptStatus
from eagle3web.models import Attempt, Checkpoint, Comment, User
from tests.browser.conftest import Watch, sign_in
from tests.support import factories as make
from tests.support.system import System

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture
def ada(transactional_db: None) -> User:
    return make.user("ada", permissions=("view_run", "change_run", "change_checkpoint"))


def test_comments_reach_the_others_while_they_look(page: Page, site: System, ada: User) -> None:
    run = make.run(make.project(slug="k2"))
    sign_in(page, ada)
    page.goto(f"/runs/{run.pk}/")
    expect(page.locator("#live")).to_contain_text("Live")
    page.get_by_label("Comment", exact=True).fill("**good** start")
    page.get_by_role("button", name="Comment").click()
    mine = page.locator("#comments li").first
    expect(mine.locator("strong")).to_have_text("good")
    comments.add(run, "and <i>now</i>?", user=make.user("ben"))
    expect(page.locator("#comments li")).to_have_count(2)
    expect(page.locator("#comments li").nth(1)).to_contain_text("and <i>now</i>?")
    expect(page.locator("#comments li").nth(1).get_by_role("link", name="Edit")).to_have_count(0)
    mine.get_by_role("link", name="Edit").click()
    mine.get_by_label("Comment").fill("a *better* start")
    comments.add(run, "third", user=make.user("cleo"))
    page.wait_for_timeout(2500)
    expect(mine.get_by_label("Comment")).to_have_value("a *better* start")  # nobody takes the form away
    mine.get_by_role("button", name="Save").click()
    expect(mine.locator("em")).to_have_text("better")
    expect(page.locator("#comments li")).to_have_count(3)
    mine.get_by_role("link", name="Remove…").click()
    page.locator("#dialog").get_by_role("button", name="Remove").click()
    expect(mine).to_contain_text("Removed")
    assert list(Comment.objects.order_by("id").values_list("text", flat=True)) == ["", "and <i>now</i>?", "third"]


def test_list_that_arrives_late_takes_no_open_editor_away(page: Page, site: System, ada: User) -> None:
    run = make.run(make.project(slug="k2"))
    comments.add(run, "mine", user=ada)
    sign_in(page, ada)
    page.goto(f"/runs/{run.pk}/")
    expect(page.locator("#live")).to_contain_text("Live")
    held: list[Route] = []
    page.route(f"**/runs/{run.pk}/comments/", lambda route: held.append(route))
    with page.expect_request(f"**/runs/{run.pk}/comments/"):
        comments.add(run, "another", user=make.user("ben"))
    mine = page.locator("#comments li").first
    mine.get_by_role("link", name="Edit").click()
    mine.get_by_label("Comment").fill("mine, and more")
    with page.expect_response(f"**/runs/{run.pk}/comments/"):
        held[0].continue_()
    page.unroute_all()
    expect(mine.get_by_label("Comment")).to_have_value("mine, and more")
    mine.get_by_role("button", name="Save").click()
    expect(mine).to_contain_text("mine, and more")
    expect(page.locator("#comments li")).to_have_count(2)


def test_two_people_review_and_promote(page: Page, site: System, ada: User, chromium: Browser, watch: Watch) -> None:
    row = make.checkpoint(folder=True)
    make.user("ben", permissions=("view_run", "change_checkpoint"))
    sign_in(page, ada)
    page.goto(f"/checkpoints/{row.pk}/")
    expect(page.locator("#live")).to_contain_text("Live")
    page.get_by_role("link", name="Propose…").click()
    page.locator("#dialog").get_by_label("Note").fill("beats lookup")
    page.locator("#dialog").get_by_role("button", name="Propose").click()
    expect(page.locator("#checkpoint-reviews")).to_contain_text("beats lookup")
    page.get_by_role("link", name="Promote…").click()
    page.locator("#dialog").get_by_role("button", name="Promote").click()
    expect(page.locator("#dialog")).to_contain_text("without an approval?")
    page.locator("#dialog").get_by_role("button", name="Not now").click()
    watch.expected = ("409",)
    page.get_by_role("link", name="Approve…").click()
    page.locator("#dialog").get_by_role("button", name="Approve").click()
    expect(page.locator("#dialog")).to_contain_text("somebody else has to approve it")
    page.locator("#dialog").get_by_role("button", name="Not now").click()
    other = chromium.new_context(base_url=site.url).new_page()
    sign_in(other, User.objects.get(username="ben"))
    other.goto(f"/checkpoints/{row.pk}/")
    other.get_by_role("link", name="Approve…").click()
    other.locator("#dialog").get_by_role("button", name="Approve").click()
    expect(page.locator("#checkpoint-head .pill")).to_have_text("approved")
    other.context.close()
    assert Checkpoint.objects.get().review == "approved"


def test_trouble_shows_in_the_tab_whatever_page_is_open(page: Page, site: System, ada: User) -> None:
    project = make.project(slug="k2", name="Kimi")
    make.host()
    attempt = make.attempt(make.run(project), status=AttemptStatus.STOPPED)
    sign_in(page, ada)
    page.goto("/engines/")
    expect(page).to_have_title(re.compile("^Engines"))
    icon = page.locator("link[rel=icon]")
    expect(icon).to_have_attribute("href", re.compile("/icon[.-]"))
    Attempt.objects.update(status=AttemptStatus.LOST, ended_at=attempt.created_at, reason="gone")
    attempt.run.status = "lost"
    attempt.run.save()
    expect(page).to_have_title(re.compile(r"^\(1!\) Engines"))
    expect(icon).to_have_attribute("href", re.compile("icon-failed"))
    bell = page.get_by_role("button", name="1 needs you")
    bell.click()
    expect(page.locator("#needs")).to_contain_text("attempt 1 is lost")
    page.keyboard.press("Escape")
    expect(page.locator("#needs")).to_be_hidden()


def test_own_page_shows_a_token_once_and_moves_the_times(page: Page, site: System, ada: User) -> None:
    make.project(slug="k2")
    sign_in(page, ada)
    page.get_by_role("link", name="ada").click()
    page.get_by_label("Time zone").select_option("Asia/Tokyo")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#toasts")).to_contain_text("in Asia/Tokyo")
    page.get_by_label("Name").fill("nightly")
    page.get_by_role("button", name="Make it").click()
    expect(page.locator("#token")).to_have_text(re.compile("^e3_"))
    page.get_by_role("link", name="I have it").click()
    expect(page.get_by_text("nightly", exact=True)).to_be_visible()
    page.get_by_role("link", name="Revoke…").click()
    page.locator("#dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("You have no token.")).to_be_visible()
