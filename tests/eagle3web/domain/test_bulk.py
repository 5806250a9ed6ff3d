import pytest
from django.core.exceptions import ValidationError

from eagle3web.domain import bulk, labels
from eagle3web.models import Run
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_stop_goes_on_where_one_run_has_ended() -> None:
    project = factories.project()
    queued, live, twice, ended = (factories.run(project) for _ in range(4))
    factories.attempt(live)
    factories.attempt(twice, status="stopping")
    factories.attempt(ended, status="finished")
    found = bulk.stop([queued, live, twice, ended], user=None)
    assert (found.asked, found.already, found.ended) == ([queued, live], [twice], [ended])
    assert list(Run.objects.order_by("pk").values_list("status", flat=True)) == ["stopped", "stopping", "stopping", "finished"]


def test_tag_changes_each_run_and_names_those_without_room() -> None:
    project = factories.project()
    full = factories.run(project, tags=[str(n) for n in range(labels.TAGS)])
    plain = factories.run(project, tags=["old"])
    assert bulk.tag([full, plain], add=["new"], remove=["old"], user=None) == (1, [full])
    assert Run.objects.get(pk=plain.pk).tags == ["new"]


def test_what_is_no_tag_changes_no_run() -> None:
    run = factories.run()
    with pytest.raises(ValidationError):
        bulk.tag([run], add=["x" * 50], user=None)


def test_chosen_runs_are_the_projects_own() -> None:
    project = factories.project()
    first, second = factories.run(project), factories.run(project)
    other = factories.run()
    assert bulk.chosen_runs(project, f"{first.pk},{second.pk},{other.pk},x,-1,{10**30}") == [second, first]
