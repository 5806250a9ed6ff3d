from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from eagle3web.models import Attempt, MetricPoint
from eagle3web.pages.run import RunPage
from eagle3web.pages.stages.standing import standing_line
from pipeline.event import Event
from pipeline.server_events import DrafterSwapped, ServerEnded, ServerLoading
from tests.support import factories, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    run = factories.run(stage="serve", config={"engine": "r7"})
    return factories.attempt(run, folder=str(tmp_path / "attempt"))


def shown(attempt: Attempt, *events: Event) -> str:
    told.tell(attempt, [(second, event) for second, event in enumerate(events)])
    found = RunPage(attempt.run_id, 1, frozenset({"view_run"})).read(timezone.now()).fragments
    return found["run-serving"].replace("\u00a0", " ")


def loading(done: int) -> ServerLoading:
    return ServerLoading(number=1, phase="weights", what="", done=done, total=12)


def test_start_is_shown_as_far_as_its_log_tells(attempt: Attempt) -> None:
    assert "nothing was started yet" in shown(attempt)
    assert "starting Python; start 1" in shown(attempt, told.server_started())
    html = shown(attempt, loading(3))
    assert "loading weights: 3 of 12; start 1" in html
    assert 'width="25.00%"' in html
    line = standing_line(Attempt.objects.get(), "serve", forecast=True)
    assert line is not None
    assert line.words == "loading weights: 3 of 12"


def test_ready_server_shows_its_queue_speed_and_accept_length(attempt: Attempt) -> None:
    html = shown(attempt, told.server_started(drafter="r4 step 9"), told.server_ready(), told.server_measured())
    for part in ("ready", "12 <small>running", "3 waiting", "812", "2.71"):
        assert part in html
    assert set(MetricPoint.objects.values_list("name", "value")) == {
        ("tokens_per_s", 812.5), ("running", 12), ("waiting", 3), ("accept_length", 2.71),
    }  # fmt: skip


def test_server_that_starts_again_shows_nothing_of_the_one_before(attempt: Attempt) -> None:
    ended = ServerEnded(number=1, reason="killed", wanted=False, retry_in_s=2.0, failures=1)
    html = shown(attempt, told.server_started(), told.server_ready(), told.server_measured(), ended, told.server_started(2))
    assert "starting Python; start 2" in html
    assert "12 <small>running" not in html


def test_swapped_drafter_is_named(attempt: Attempt) -> None:
    html = shown(attempt, told.server_started(), DrafterSwapped(drafter="/c", name="r4 step <9>", previous=""))
    assert "r4 step &lt;9&gt;" in html


def test_page_of_a_server_has_its_charts(attempt: Attempt, tmp_path: Path) -> None:
    told.tell(attempt, [(0, told.server_started(drafter="x")), (1, told.server_ready()), (2, told.server_measured())])
    page = RunPage(attempt.run_id, 1, frozenset({"view_run"}))
    details = page.details(attempt)
    assert details["rate_figure"]["data"][0]["y"] == [812.5]
    assert [trace["y"] for trace in details["queue_figure"]["data"]] == [[12], [3]]
    assert details["accept_figure"]["data"][0]["y"] == [2.71]


def test_idle_server_is_running_not_waiting_for_anything(attempt: Attempt) -> None:
    told.tell(attempt, [(0, told.server_started()), (1, told.server_ready()), (2, told.server_measured(0))])
    first = Attempt.objects.get().progress_at
    told.tell(attempt, [(60, told.server_measured(0))])
    last = Attempt.objects.get().progress_at
    assert first is not None
    assert last is not None
    assert last > first


def test_page_takes_few_queries_and_offers_what_fits_a_server(
    attempt: Attempt, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    told.tell(attempt, [(0, told.server_started(drafter="x")), (1, told.server_ready()), (2, told.server_measured())])
    client.force_login(factories.user(permissions=("view_run", "change_run")))
    with django_assert_max_num_queries(45):
        html = client.get(f"/runs/{attempt.run_id}/attempts/1/").content.decode()
    assert "Accept length" in html
    assert f"/runs/{attempt.run_id}/drafter/" in html
    assert f"/runs/{attempt.run_id}/pause/" not in html
