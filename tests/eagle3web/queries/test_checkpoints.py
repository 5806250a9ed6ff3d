import pytest
from django.utils import timezone

from eagle3web.queries import checkpoints
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_project_shows_the_promoted_one_first_and_no_deleted_ones() -> None:
    attempt = factories.attempt(factories.run(stage="train"))
    promoted = factories.checkpoint(attempt, step=1, promoted=True)
    gone = factories.checkpoint(attempt, step=2, removed_at=timezone.now())
    newest = factories.checkpoint(attempt, step=3)
    factories.checkpoint()
    project = attempt.run.project_id
    assert list(checkpoints.of_project(project)) == [promoted, newest]
    assert list(checkpoints.of_project(project, deleted=True)) == [promoted, newest, gone]
    assert checkpoints.count_deleted(project) == 1
    assert [row.step for row in checkpoints.of_run(attempt.run_id)] == [3, 2, 1]


def test_promoted_one_is_shown_even_when_its_files_are_gone() -> None:
    row = factories.checkpoint(promoted=True, removed_at=timezone.now())
    assert list(checkpoints.of_project(row.project_id)) == [row]
