"""What the rules find."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from eagle3web.domain import prunable
from eagle3web.domain.prunable import Found
from eagle3web.enums import AttemptStatus, Prunable, Stage
from eagle3web.models import Attempt, Project, Run
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.project()


def find(project: Project) -> list[Found]:
    return prunable.with_sizes(prunable.find(project))


def run_of(project: Project, attempts: int, *, days: float = 100, **fields: Any) -> list[Attempt]:
    run = factories.run(project, stage=fields.pop("stage", Stage.GENERATE))
    return [factories.old_attempt(run, days=days, **fields) for _ in range(attempts)]


def test_without_a_rule_nothing_is_found(project: Project) -> None:
    factories.log(run_of(project, 2)[0], "old\n")
    assert find(project) == []


def test_old_logs_are_found_but_that_of_the_last_attempt(project: Project) -> None:
    factories.policy(Prunable.LOGS)
    first, last = run_of(project, 2)
    for attempt in (first, last):
        factories.log(attempt, "one\ntwo\n")
    (found,) = find(project)
    assert (found.attempt_id, found.run_id, found.bytes, found.count) == (first.pk, first.run_id, 8, 2)
    assert (found.host, found.checkpoint_id) == ("test-host", None)
    assert found.policy.startswith("logs go after 30 days, the last attempt")


def test_young_attempts_and_those_without_a_log_are_not_found(project: Project) -> None:
    factories.policy(Prunable.LOGS)
    factories.log(run_of(project, 2, days=29)[0], "young\n")
    run_of(project, 2)
    assert find(project) == []


def test_a_live_run_loses_nothing(project: Project) -> None:
    for kind in (Prunable.LOGS, Prunable.EVENTS, Prunable.POINTS):
        factories.policy(kind, keep_last=0)
    (old,) = run_of(project, 1)
    factories.log(old, "old\n")
    factories.event(old, "warning")
    factories.point(old, "loss", 1.0)
    factories.attempt(old.run)
    assert find(project) == []


def test_points_are_counted_by_attempt(project: Project) -> None:
    factories.policy(Prunable.POINTS, keep_last=0)
    (attempt,) = run_of(project, 1)
    for step in range(3):
        factories.point(attempt, "loss", 1.0, step=step)
    (found,) = find(project)
    assert (found.kind, found.count, found.bytes, found.host) == (Prunable.POINTS, 3, 3 * prunable.POINT_BYTES, "")


def test_events_may_go_with_the_last_attempt_where_the_rule_says_so(project: Project) -> None:
    factories.policy(Prunable.EVENTS, keep_last=0)
    (attempt,) = run_of(project, 1, events_offset=700)
    factories.event(attempt, "warning")
    assert [(found.bytes, found.count) for found in find(project)] == [(700, 1)]


def extraction(project: Project, **fields: Any) -> Run:
    counters = {"extraction_progress": {"bytes": 10_000, "documents": 12}}
    return run_of(project, 1, stage=Stage.EXTRACT, **{"counters": counters} | fields)[0].run


def test_hidden_states_of_old_extractions_are_found_but_the_last_ones(project: Project) -> None:
    factories.policy(Prunable.SHARDS, keep_last=1)
    old, _last = extraction(project), extraction(project)
    (found,) = find(project)
    assert (found.run_id, found.bytes, found.count, found.host) == (old.pk, 10_000, 12, "test-host")


def test_an_extraction_that_may_be_resumed_keeps_its_hidden_states(project: Project) -> None:
    factories.policy(Prunable.SHARDS, keep_last=0)
    extraction(project, status=AttemptStatus.STOPPED)
    assert find(project) == []


def test_an_extraction_is_found_on_each_host_that_wrote(project: Project) -> None:
    factories.policy(Prunable.SHARDS, keep_last=0)
    run = extraction(project, host="gpu-1", status=AttemptStatus.STOPPED)
    factories.old_attempt(run, host="gpu-2", counters={"extraction_progress": {"bytes": 30_000, "documents": 40}})
    assert [(found.host, found.bytes) for found in find(project)] == [("gpu-1", 10_000), ("gpu-2", 30_000)]


def test_hidden_states_that_a_resumable_training_reads_are_kept(project: Project) -> None:
    factories.policy(Prunable.SHARDS, keep_last=0)
    run = extraction(project)
    train = factories.run(project, stage=Stage.TRAIN)
    factories.run_input(train, run, kind="hidden")
    factories.old_attempt(train, status=AttemptStatus.FAILED)
    assert find(project) == []


def checkpoints(project: Project, count: int, **fields: Any) -> list[Any]:
    (attempt,) = run_of(project, 1, stage=Stage.TRAIN)
    saved = timezone.now() - timedelta(days=100)
    return [factories.checkpoint(attempt, step=100 * n, saved_at=saved, **fields) for n in range(1, count + 1)]


def test_the_best_checkpoint_counts_first_among_those_that_stay(project: Project) -> None:
    factories.policy(Prunable.CHECKPOINTS, keep_last=2)
    rows = checkpoints(project, 4)
    rows[1].best = True
    rows[1].save()
    assert [found.checkpoint_id for found in find(project)] == [rows[2].pk, rows[0].pk]


def test_chosen_checkpoints_and_those_of_open_trainings_are_kept(project: Project) -> None:
    factories.policy(Prunable.CHECKPOINTS, keep_last=0)
    rows = checkpoints(project, 2)
    rows[0].promoted = True
    rows[0].save()
    assert [found.checkpoint_id for found in find(project)] == [rows[1].pk]
    factories.old_attempt(rows[0].run, status=AttemptStatus.STOPPED)
    assert find(project) == []


def test_what_is_behind_a_promoted_checkpoint_is_kept(project: Project) -> None:
    for kind in Prunable:
        factories.policy(kind, keep_last=0)
    extract = extraction(project)
    (row,) = checkpoints(project, 1, promoted=True)
    factories.run_input(row.run, extract, kind="hidden")
    for attempt in Attempt.objects.all():
        factories.log(attempt, "a\n")
        factories.event(attempt, "warning")
        factories.point(attempt, "loss", 1.0)
    assert find(project) == []
    row.promoted = False
    row.save()
    assert {found.kind for found in find(project)} == {*Prunable} - {Prunable.LOGS}


def test_queries_do_not_grow_with_the_number_of_runs(
    project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for kind in Prunable:
        factories.policy(kind, keep_last=0)
    for _ in range(12):
        extraction(project)
        for row in checkpoints(project, 2):
            factories.point(row.attempt, "loss", 1.0)
    with django_assert_max_num_queries(20):
        assert len(find(project)) == 12 + 24 + 12
