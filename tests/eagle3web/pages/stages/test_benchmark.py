from pathlib import Path

import pytest
from django.utils import timezone

from eagle3web.models import Attempt
from eagle3web.pages.run import RunPage
from pipeline.events import StageFinished
from tests.support import factories, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    return factories.attempt(factories.run(stage="benchmark"), folder=str(tmp_path / "attempt"))


def fragments(attempt: Attempt) -> dict[str, str]:
    found = RunPage(attempt.run_id, 1, frozenset({"view_run"})).read(timezone.now()).fragments
    return {key: html.replace("\u00a0", " ") for key, html in found.items()}


def test_page_counts_passes_and_says_what_the_last_one_was(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.measured(18))])
    html = fragments(attempt)["run-benchmark"]
    for part in ("18 <small>of 72", "25 %", "14 min", "drafter 3/1/4 on B2_opencode, 1 at once, repetition 2", "2.71"):
        assert part in html


def test_table_of_results_grows(attempt: Attempt) -> None:
    assert "No result yet" in fragments(attempt)["bench-results"]
    told.tell(attempt, [(1, told.summarised("B1", "plain")), (2, told.summarised("B1", "drafter", 0.97))])
    html = fragments(attempt)["bench-results"]
    assert "baseline" in html
    assert '<b class="st-text" data-state="failed">0.97×</b>' in html


def test_verdict_is_the_stages_own_sentence(attempt: Attempt) -> None:
    told.tell(attempt, [(1, row) for row in told.results()])
    told.tell(attempt, [(2, StageFinished(summary={"verdict": "Worth it. <b>Really.</b>"}))])
    assert "Worth it. &lt;b&gt;Really.&lt;/b&gt;" in fragments(attempt)["run-benchmark"]
