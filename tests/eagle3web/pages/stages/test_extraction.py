from pathlib import Path

import pytest
from django.utils import timezone

from eagle3web.models import Attempt
from eagle3web.pages.run import RunPage
from tests.support import factories, told

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    return factories.attempt(factories.run(stage="extract"), folder=str(tmp_path / "attempt"))


def words(attempt: Attempt) -> str:
    html = RunPage(attempt.run_id, 1, frozenset({"view_run"})).read(timezone.now()).fragments["run-extraction"]
    return html.replace("\u00a0", " ")


def test_page_says_how_much_is_read_and_what_it_takes(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.extraction())])
    html = words(attempt)
    for part in (
        "13 %",
        "60.0 k of 450.0 k tokens",
        "120 of 900 answers, 2 left out",
        "3 min 30 s",
        "276.0 MB",
        "2.1 GB forecast",
    ):
        assert part in html
    assert "free disk unknown" in html


def test_free_disk_stands_beside_what_is_to_come(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.extraction())])
    host = factories.host(name=attempt.host)
    assert "700.0 GB free on gpu-07" in words(attempt)
    host.sample["disk_free"] = 1_000_000_000
    host.save()
    assert "only 1.0 GB free, 1.8 GB to come" in words(attempt)


@pytest.mark.parametrize(("agreed", "warned"), [(949, True), (950, False)])
def test_share_of_reproduced_tokens_is_coloured_below_its_limit(attempt: Attempt, agreed: int, warned: bool) -> None:
    told.tell(attempt, [(1, told.extraction(agreed=agreed, compared=1000))])
    assert ("another target, template or dtype?" in words(attempt)) is warned


def test_page_before_the_first_word_has_no_bar(attempt: Attempt) -> None:
    html = words(attempt)
    assert "nothing is read yet" in html
    assert 'class="bar"' not in html


def test_failed_attempt_says_what_is_kept(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.extraction())])
    Attempt.objects.update(status="failed", reason="disk full")
    html = RunPage(attempt.run_id, 1, frozenset({"view_run"})).read(timezone.now()).fragments["run-trouble"]
    assert "Kept: hidden states of 120 of 900 answers, 276.0 MB, all events and the log." in html.replace("\u00a0", " ")


def test_newer_points_reach_both_charts(attempt: Attempt) -> None:
    page = RunPage(attempt.run_id, 1, frozenset({"view_run"}))
    page.read(timezone.now())
    told.tell(attempt, [(1, told.extraction(tokens=5, bytes=7))])
    entries = [entry for _, entry in page.read(timezone.now()).streams["points"].entries]
    assert [(line, value) for line, _, value in entries] == [("tokens", 5.0), ("bytes", 7.0)]
