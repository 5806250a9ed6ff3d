from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.models import Run
from eagle3web.pages.run_rows import describe
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_row_says_how_long_all_attempts_took() -> None:
    run, start = factories.run(), timezone.now()
    for _ in range(2):
        factories.attempt(run, status="failed", started_at=start, ended_at=start + timedelta(seconds=90))
    (row,) = describe([Run.objects.get()], timezone.now())
    assert row.worked_s == 180.0


def test_describe_costs_the_same_for_any_number_of_runs(django_assert_num_queries: object) -> None:
    project = factories.project()
    for _ in range(5):
        factories.progress(factories.attempt(factories.run(project)))
    runs = list(Run.objects.select_related("author"))
    with django_assert_num_queries(3):  # type: ignore[operator]
        rows = describe(runs, timezone.now())
    assert [row.state for row in rows] == ["running"] * 5


def test_row_of_a_resumed_run_that_waits_is_queued() -> None:
    run = factories.run()
    factories.attempt(run, status="failed", reason="disk full")
    Run.objects.update(status="queued")
    (row,) = describe([Run.objects.get()], timezone.now())
    assert (row.state, row.words) == ("queued", "queued")


def test_short_reasons_stand_in_the_pill_and_long_ones_in_its_hint() -> None:
    short = factories.attempt(status="failed", reason="killed by signal 9")
    long = factories.attempt(status="failed", reason="failed: disk full while writing part-00001.jsonl")
    rows = {row.run.pk: row for row in describe([short.run, long.run], timezone.now())}
    assert rows[short.run_id].words == "killed by signal 9"
    assert (rows[long.run_id].words, rows[long.run_id].hint) == ("failed", long.reason)
