from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from eagle3web.models import Attempt, DatasetProgress, Project, Run
from eagle3web.queries import erring
from eagle3web.queries.erring import NEEDS_LOOK, needs_look, unasked_since
from tests.support import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def ended(project: Project, *, status: str = "finished", run: dict[str, Any] | None = None, **fields: Any) -> Attempt:
    """A run that ended now, with one dataset."""
    attempt = make.attempt(make.run(project, **run or {}), status=status, ended_at=timezone.now())
    make.progress(attempt, **{"dataset": "B1", "state": "finished", "done": 0, "errors": 300} | fields)
    return attempt


def told(project: Project) -> list[int]:
    return [row.attempt_id for row in unasked_since(project.pk, timezone.now() - timedelta(days=7))]


@pytest.mark.parametrize(
    ("done", "errors", "reason", "bad"),
    [
        (0, 1, "exhausted", True),
        (0, 0, "exhausted", False),
        (1, 40, "exhausted", False),
        (98, 2, "exhausted", False),
        (97, 3, "exhausted", True),
        (0, 300, "disabled", False),
    ],
)
def test_erring_is_a_share_of_many_or_all_of_few(done: int, errors: int, reason: str, bad: bool) -> None:
    make.progress(done=done, errors=errors, reason=reason)
    assert erring.erring(DatasetProgress.objects.all()).exists() is bad


@pytest.mark.parametrize(
    ("status", "errors", "look"),
    [("finished", 300, True), ("stopped", 300, True), ("finished", 0, False), ("failed", 0, True), ("running", 300, False)],
)
def test_run_that_broke_or_ended_with_errors_needs_a_look(project: Project, status: str, errors: int, look: bool) -> None:
    run = ended(project, status=status, errors=errors).run
    assert (needs_look(run), Run.objects.filter(NEEDS_LOOK).exists()) == (look, look)


def test_run_is_judged_by_its_last_attempt(project: Project) -> None:
    run = ended(project, status="stopped").run
    make.progress(make.attempt(run, status="finished"), dataset="B1", done=300, errors=0)
    assert not needs_look(run)


def test_newest_word_on_each_dataset_is_told(project: Project) -> None:
    ended(project)
    newest = ended(project)
    stopped = ended(project, dataset="B2", status="stopped")
    ended(make.project())
    assert told(project) == [stopped.pk, newest.pk]


def test_old_settled_resumed_and_broken_runs_are_not_told(project: Project) -> None:
    old = ended(project, dataset="old")
    Attempt.objects.filter(pk=old.pk).update(ended_at=timezone.now() - timedelta(days=8))
    ended(project, dataset="settled", run={"settled_at": timezone.now()})
    resumed = ended(project, dataset="resumed", status="stopped").run
    Run.objects.filter(pk=resumed.pk).update(status="queued")
    ended(project, dataset="failed", status="failed")
    assert told(project) == []


def test_later_run_that_asked_again_ends_the_trouble(project: Project) -> None:
    first = ended(project)
    retry = make.run(project, config={"retry_errors": True})
    assert told(project) == [first.pk]
    make.progress(make.attempt(retry), dataset="B1", done=0, errors=300)
    assert told(project) == []


def test_errors_that_somebody_settled_are_told_again_only_when_they_are_more(project: Project) -> None:
    ended(project, run={"settled_at": timezone.now()})
    ended(project)
    assert told(project) == []
    more = ended(project, errors=301)
    assert told(project) == [more.pk]


def test_errors_of_many_runs_cost_one_query(project: Project, django_assert_max_num_queries: object) -> None:
    for n in range(60):
        ended(project, dataset=f"B{n}")
    with django_assert_max_num_queries(1):  # type: ignore[operator]
        found = unasked_since(project.pk, timezone.now() - timedelta(days=7))
        assert [row.attempt.run.stage for row in found] == ["generate"] * erring.SHOWN
