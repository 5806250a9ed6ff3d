from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.models import Project, Run
from eagle3web.pages.run_filter import RunFilter
from tests.support import factories

pytestmark = pytest.mark.django_db


def found(project: Project, user_id: int = 0, **query: str) -> set[int]:
    chosen = RunFilter(query, project_id=project.pk, user_id=user_id)
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
    chosen = RunFilter({}, project_id=project.pk, user_id=0).form.fields["stage"].choices
    assert [value for value, _ in chosen] == ["", "generate"]


def test_search_reads_notes_and_tags_in_any_script() -> None:
    project = factories.project()
    run = factories.run(project, notes="loss spikes at step 400", tags=["größer", "夜"])
    factories.run(project)
    for text in ("spikes", "größ", "夜"):
        assert found(project, q=text) == {run.pk}, text


def test_tag_filter_takes_whole_tags_whatever_their_case() -> None:
    project = factories.project()
    run, other = factories.run(project, tags=["Night", "é"]), factories.run(project, tags=["nightly"])
    assert found(project, tag="night") == {run.pk}
    assert found(project, tag="nightly") == {other.pk}
    assert found(project, tag="é") == {run.pk}


def test_starred_are_the_persons_own() -> None:
    project = factories.project()
    ada, bob = factories.user(), factories.user()
    mine = factories.run(project)
    factories.star(ada, mine)
    factories.star(bob, factories.run(project))
    assert found(project, ada.pk, starred="true") == {mine.pk}
    assert len(found(project, ada.pk)) == 2
