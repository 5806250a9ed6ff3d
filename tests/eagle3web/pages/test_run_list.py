from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.models import Project, Run
from eagle3web.pages.rights import Rights
from eagle3web.pages.run_list import RunFilter, RunListPage, describe
from tests.support import factories

pytestmark = pytest.mark.django_db
NONE: Rights = frozenset()


def found(project: Project, **query: str) -> set[int]:
    chosen = RunFilter(query, project_id=project.pk)
    assert chosen.form.is_valid()
    return {run.pk for run in chosen.qs}


def test_search_finds_number_title_tag_hash_and_author() -> None:
    project = factories.project()
    ada = factories.user("ada")
    run = factories.run(project, title="First try", tags=["nightly"], author=ada, config_hash="abcd1234")
    other = factories.run(project)
    for text in (f"r{run.pk}", str(run.pk), "first", "nightly", "abcd1234", "ADA"):
        assert run.pk in found(project, q=text), text
        assert other.pk not in found(project, q=text), text
    assert found(project, q="%") == set()


def test_filters_by_state_stage_author_and_day() -> None:
    project = factories.project()
    ada = factories.user()
    live, queued, old = factories.run(project, author=ada), factories.run(project), factories.run(project, status="failed")
    factories.attempt(live)
    Run.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=3))
    assert found(project, state="live") == {live.pk, queued.pk}
    assert found(project, state="failed") == {old.pk}
    assert found(project, stage="generate") == {live.pk, queued.pk, old.pk}
    assert found(project, stage="train") == set()
    assert found(project, author=str(ada.pk)) == {live.pk}
    assert found(project, since=str(timezone.now().date() - timedelta(days=1))) == {live.pk, queued.pk}


def test_stages_on_offer_are_those_of_runs_that_exist() -> None:
    project = factories.project()
    factories.run(project)
    chosen = RunFilter({}, project_id=project.pk).form.fields["stage"].choices
    assert [value for value, _ in chosen] == ["", "generate"]


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


def test_page_sends_rows_that_move_and_the_counts() -> None:
    project = factories.project()
    live, done = factories.run(project), factories.run(project, status="finished")
    factories.attempt(live)
    fragments = RunListPage(project.pk, NONE).read(timezone.now()).fragments
    assert f"run-row-{live.pk}" in fragments
    assert f"run-row-{done.pk}" not in fragments
    assert "2 runs · 1 live" in fragments["runs-count"]
