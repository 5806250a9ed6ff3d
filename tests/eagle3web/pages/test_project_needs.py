from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.domain import runs
from eagle3web.enums import EngineState
from eagle3web.models import Project
from eagle3web.pages.nav import NavPage
from eagle3web.pages.project_needs import Trouble, needs_of, trouble
from tests.support import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    make.host()
    return make.project()


def judged(project: Project) -> Trouble:
    return trouble(needs_of(project.pk, timezone.now())[0])


def test_calm_project_has_no_trouble(project: Project) -> None:
    make.attempt(make.run(project))
    assert judged(project) == Trouble(count=0, runs=0, state="")


def test_worst_run_colours_the_tab_and_an_engine_only_counts(project: Project) -> None:
    make.engine(state=EngineState.DOWN)
    assert judged(project) == Trouble(count=1, runs=0, state="")
    make.attempt(make.run(project), tick_at=timezone.now() - timedelta(seconds=20))
    assert judged(project) == Trouble(count=2, runs=1, state="silent")
    make.attempt(make.run(project), status="lost", ended_at=timezone.now())
    assert judged(project) == Trouble(count=3, runs=2, state="failed")


def test_run_that_ended_with_errors_alone_is_trouble_until_it_is_settled(project: Project) -> None:
    attempt = make.attempt(make.run(project), status="finished", ended_at=timezone.now())
    make.progress(attempt, done=0, errors=300)
    assert judged(project) == Trouble(count=1, runs=1, state="failed")
    runs.settle(attempt.run, user=None)
    assert judged(project) == Trouble(count=0, runs=0, state="")


def test_proposed_checkpoint_waits_for_a_word_and_is_no_trouble(project: Project) -> None:
    attempt = make.attempt(make.run(project, stage="train"), status="finished")
    row = make.checkpoint(attempt, review="proposed")
    make.checkpoint(attempt, review="approved")
    make.checkpoint(attempt, review="proposed", removed_at=timezone.now())
    (need,) = needs_of(project.pk, timezone.now())[0]
    assert (need.head, need.href, need.of_run) == (f"{row} is proposed", f"/checkpoints/{row.pk}/", False)


def test_another_projects_runs_are_no_trouble_of_this_one(project: Project) -> None:
    make.attempt(make.run(), status="failed", ended_at=timezone.now())
    assert judged(project).runs == 0


def test_bell_is_live_says_how_many_and_looks_again_in_time(project: Project, django_assert_max_num_queries: object) -> None:
    attempt = make.attempt(make.run(project))
    make.attempt(make.run(project), status="failed", ended_at=timezone.now())
    make.progress(make.attempt(make.run(project), status="finished", ended_at=timezone.now()), done=9, errors=0)
    with django_assert_max_num_queries(20):  # type: ignore[operator]
        reading = NavPage(project.pk).read(timezone.now())
    bell = reading.fragments["bell"]
    assert ('data-runs="1"' in bell, 'data-state="failed"' in bell, 'aria-label="1 needs you"' in bell) == (True, True, True)
    assert reading.look_again is not None
    assert attempt.tick_at is not None
    assert reading.look_again > attempt.tick_at
    assert reading.title == ""
