from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.models import Run
from eagle3web.queries import run_list
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_tags_on_offer_are_the_most_used_first() -> None:
    project = factories.project()
    for tags in (["a", "b"], ["b"], []):
        factories.run(project, tags=tags)
    factories.run(tags=["elsewhere"])
    assert run_list.tags_of(project.pk) == ["b", "a"]


def test_list_knows_how_notes_begin() -> None:
    run = factories.run(notes="x" * 5000)
    assert run_list.runs_of(run.project_id)[0].note == "x" * run_list.NOTE  # type: ignore[attr-defined]


def test_moving_runs_are_live_or_changed_just_now() -> None:
    project = factories.project()
    live, changed, quiet = (factories.run(project) for _ in range(3))
    factories.attempt(live)
    Run.objects.filter(pk__in=[changed.pk, quiet.pk]).update(status="finished")
    factories.transition(changed, "running", "finished")
    assert run_list.moving_runs(project.pk, timezone.now()) == [live, changed]


def test_counts_and_authors() -> None:
    project = factories.project()
    ada = factories.user("ada")
    factories.attempt(factories.run(project, author=ada))
    factories.run(project, author=ada, status="finished")
    assert run_list.counts(project.pk) == (2, 1)
    assert run_list.authors(project.pk) == [(ada.pk, "ada")]


def test_seconds_worked_add_up_over_ended_attempts() -> None:
    run, start = factories.run(), timezone.now()
    for seconds in (60, 5):
        factories.attempt(run, status="failed", started_at=start, ended_at=start + timedelta(seconds=seconds))
    factories.attempt(run, status="failed", started_at=None, ended_at=start)
    factories.attempt(run)
    assert run_list.seconds_worked([run.pk]) == {run.pk: 65.0}


def test_stages_are_those_of_the_projects_runs() -> None:
    run = factories.run()
    factories.run(stage="train")
    assert run_list.stages(run.project_id) == {"generate"}
