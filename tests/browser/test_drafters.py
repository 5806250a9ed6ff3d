"""Training, checkpoints and benchmarks as people see them: charts that are drawn and grow, the token view, a promotion."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from eagle3web.models import Attempt, Checkpoint, User
from tests.browser.conftest import sign_in
from tests.support import factories, told
from tests.support.system import System

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def user(transactional_db: None) -> User:
    return factories.user("ada", permissions=("view_run", "change_run", "change_checkpoint"))


def attempt_of(stage: str, site: System) -> Attempt:
    run = factories.run(factories.project(slug=f"p-{stage}"), stage=stage)
    return factories.attempt(run, folder=str(Path(settings.EAGLE3_HOME) / "runs" / str(run.pk) / "attempts" / "1"))


def last_value(page: Page, chart: str, trace: int) -> float:
    value: float = page.evaluate(f"document.getElementById('{chart}').figure.data[{trace}].y.at(-1)")
    return value


def test_charts_of_a_training_are_drawn_and_grow(page: Page, site: System, user: User) -> None:
    attempt = attempt_of("train", site)
    told.tell(attempt, told.training(attempt, first=0, last=200))
    sign_in(page, user)
    page.goto(f"/runs/{attempt.run_id}/")
    for chart in ("c-loss", "c-accuracy", "c-accept", "c-speed", "c-memory"):
        expect(page.locator(f"#{chart} .main-svg").first).to_be_visible()
        expect(page.locator(f"#{chart}")).not_to_have_class(re.compile("is-empty"))
    expect(page.locator("#live")).to_contain_text("Live")
    expect(page.locator("#run-training")).to_contain_text("held-out at step 200")
    told.tell(attempt, [(900, told.step(205, loss=0.75)), (900.5, told.decoded(205))])
    expect(page.locator("#run-training")).to_contain_text("decoded at step 205")
    expect(page.locator("#c-loss")).to_contain_text("training 0.75")
    assert last_value(page, "c-loss", 0) == 0.75
    page.get_by_role("button", name="Show the numbers of “Accept length, simulated and measured” as a table").click()
    expect(page.locator("#c-accept + .chart-table th")).to_have_text(["step", "simulated", "measured"])


def test_benchmark_draws_its_charts_and_colours_tokens_by_depth(page: Page, site: System, user: User) -> None:
    attempt = attempt_of("benchmark", site)
    hostile = told.drafted("B1_glaive", "hostile", pieces=("<b>bold</b>", "\x1b[31m"), depths=(1, 0))
    told.tell(attempt, [*((1, row) for row in told.results()), (2, hostile), (3, told.drafted("B2_opencode", "intervals"))])
    sign_in(page, user)
    page.goto(f"/benchmarks/{attempt.pk}/")
    for chart in ("c-datasets", "c-concurrency", "c-positions"):
        expect(page.locator(f"#{chart} .main-svg").first).to_be_visible()
    tokens = page.locator("#token-view .tokens span")
    expect(tokens).to_have_text(["<b>bold</b>", "␛[31m"])
    page.locator("#answer-next").click()
    expect(tokens).to_have_count(30)
    expect(tokens.nth(4)).to_have_attribute("title", "draft position 3, accepted")
    shades = {
        tokens.nth(n).evaluate("(token) => getComputedStyle(token).backgroundColor + getComputedStyle(token).boxShadow")
        for n in (0, 2, 3, 4)
    }
    assert len(shades) == 4
    expect(page.locator("#token-view .legend")).to_contain_text("first draft token, accepted")
    page.get_by_role("button", name="Show the numbers of “Speedup by dataset” as a table").click()
    expect(page.locator("#c-datasets + .chart-table tbody tr").first).to_contain_text("B1_glaive")


def test_checkpoint_is_promoted_after_one_question(page: Page, site: System, user: User) -> None:
    row = factories.checkpoint(attempt_of("train", site), folder=True, review="approved")
    sign_in(page, user)
    page.goto(f"/checkpoints/{row.pk}/")
    expect(page.locator("#live")).to_contain_text("Live")
    page.get_by_role("link", name="Promote…").click()
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("None is promoted by now.")
    dialog.get_by_role("button", name="Promote").click()
    expect(page.locator("#toasts")).to_contain_text(f"{row} is promoted")
    expect(page.locator("#checkpoint-head .pill")).to_have_text(["promoted", "approved"])
    assert Checkpoint.objects.get().promoted
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == f"p-train-r{row.run_id}-step-{row.step}.tar"


def test_new_pages_fit_the_window(page: Page, site: System, user: User) -> None:
    training, benchmark = attempt_of("train", site), attempt_of("benchmark", site)
    told.tell(training, told.training(training, first=0, last=400))
    told.tell(benchmark, [(1, told.measured(5)), *((2, row) for row in told.results()), (3, told.drafted())])
    extraction = attempt_of("extract", site)
    told.tell(extraction, [(1, told.extraction())])
    checkpoint = Checkpoint.objects.filter(removed_at=None).first()
    assert checkpoint is not None
    sign_in(page, user)
    paths = [f"/runs/{attempt.run_id}/" for attempt in (training, benchmark, extraction)]
    paths += [f"/benchmarks/{benchmark.pk}/", "/projects/p-benchmark/benchmarks/", f"/checkpoints/{checkpoint.pk}/"]
    paths += ["/projects/p-train/checkpoints/", "/projects/p-train/checkpoints/?deleted=1"]
    too_wide, cut = {}, {}
    for path in paths:
        page.goto(path)
        page.locator("main").wait_for()
        hidden = "(boxes) => boxes.map((box) => box.scrollWidth - box.clientWidth).filter((over) => over > 0)"
        page.set_viewport_size({"width": 1440, "height": 900})
        if over := page.locator(".table-wrap").evaluate_all(hidden):
            cut[path] = over
        for width in (1440, 1024, 768, 390):
            page.set_viewport_size({"width": width, "height": 844})
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if over > 0:
                too_wide[path, width] = over
    assert (too_wide, cut) == ({}, {})
