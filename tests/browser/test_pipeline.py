"""An operator starts a pipeline and sees it as a chain, on a laptop and on a phone."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from eagle3web.models import Project, Run
from tests.browser.conftest import Watch, sign_in
from tests.support import factories
from tests.support.pipelines import finish, ready_project
from tests.support.system import System

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def project(site: System, tmp_path: Path) -> Project:
    """No worker: what is queued stays queued."""
    (tmp_path / "config.json").write_text('{"hidden_size": 576}')
    factories.engine(name="kimi-a")
    return ready_project(target_path=str(tmp_path))


def test_operator_starts_a_pipeline_and_sees_the_chain(page: Page, project: Project, watch: Watch) -> None:
    watch.expected = ("422",)  # the browser reports the refusal of the first try
    user = factories.user("ada", permissions=("view_run", "add_run", "change_run"))
    sign_in(page, user)
    page.goto("/projects/kimi/runs/new/")
    page.get_by_role("link", name="Pipeline").click()
    page.get_by_label("Title").fill("First chain")
    page.get_by_label("Draft shapes").fill("3/1")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("“3/1” will not do: 3/1 is not STEPS/TOPK/TOKENS, such as 3/1/4.")).to_be_visible()
    expect(page.get_by_label("Title")).to_have_value("First chain")

    page.get_by_label("Draft shapes").fill("3/1/4")
    page.get_by_role("button", name="Start").click()
    generate, extract, *_ = Run.objects.order_by("pk")
    expect(page.locator("#run-head h1")).to_contain_text(f"r{generate.pk} generate")
    graph = page.get_by_role("group", name="What it is made of, and what is made of it")
    expect(graph.get_by_role("link")).to_have_count(5)
    graph.get_by_role("link", name=f"r{extract.pk} extract, queued").click()
    expect(page.locator("#run-queued")).to_contain_text(f"Waits for r{generate.pk} generate.")

    finish(generate)  # seen at the next look, since nobody pokes
    expect(page.locator("#run-queued")).not_to_contain_text("Waits for r", timeout=10_000)
    expect(page.locator("#lineage")).to_contain_text("finished")

    page.set_viewport_size({"width": 390, "height": 844})
    expect(graph).to_be_hidden()
    expect(page.locator(".lineage-narrow li")).to_have_count(6)
    expect(page.locator(".lineage-narrow [aria-current]")).to_have_text(f"r{extract.pk} extract")
