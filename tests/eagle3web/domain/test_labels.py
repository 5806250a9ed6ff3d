import pytest
from django.core.exceptions import ValidationError

from eagle3web.domain import labels
from eagle3web.models import AuditEntry, Run
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_tags_are_tidied_and_doubles_dropped() -> None:
    run, ada = factories.run(), factories.user("ada")
    assert labels.set_tags(run, ["  long   run ", "Night", "night", ""], user=ada)
    assert Run.objects.get().tags == ["long run", "Night"]
    assert not labels.set_tags(run, ["long run", "Night"], user=ada)
    (entry,) = AuditEntry.objects.all()
    assert (entry.verb, entry.user, entry.detail) == ("run.tags", ada, {"old": [], "new": ["long run", "Night"]})


def test_changed_tags_keep_the_others() -> None:
    run = factories.run(tags=["a", "b"])
    assert labels.change_tags(run, add=["c"], remove=["A"], user=None)
    assert run.tags == Run.objects.get().tags == ["b", "c"]
    assert not labels.change_tags(run, add=["B"], remove=["nothing"], user=None)


@pytest.mark.parametrize("tag", ["x" * 41, "a,b", "bell\x07", "\x00"])
def test_what_is_no_tag_is_refused(tag: str) -> None:
    run = factories.run(tags=["a"])
    with pytest.raises(ValidationError):
        labels.change_tags(run, add=[tag], user=None)
    assert Run.objects.get().tags == ["a"]


def test_run_has_a_limited_number_of_tags() -> None:
    run = factories.run(tags=[str(n) for n in range(labels.TAGS)])
    with pytest.raises(ValidationError, match="20 tags"):
        labels.change_tags(run, add=["one more"], user=None)


def test_notes_are_replaced_and_audited_by_their_length() -> None:
    run = factories.run(notes="old")
    assert labels.set_notes(run, " secret\r\nplan\x00 ", user=None)
    assert Run.objects.get().notes == "secret\nplan"
    assert AuditEntry.objects.get().detail == {"characters": 11, "before": 3}
    assert not labels.set_notes(run, "secret\nplan", user=None)


def test_too_long_notes_are_refused() -> None:
    with pytest.raises(ValidationError, match="20,000"):
        labels.set_notes(factories.run(), "x" * 20_001, user=None)
