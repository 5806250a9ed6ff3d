from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.models import AuditEntry
from eagle3web.queries import audit
from eagle3web.queries.audit import AuditFilter
from tests.support import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def trail() -> None:
    ada = make.user("ada")
    make.audit("run.stop", "run 1", user=ada)
    make.audit("run.resume", "run 12", user=ada)
    make.audit("runner.add", "runner 1")
    make.audit("budget.change", "token budget 1", user=make.user("ben"))


def found(**wanted: object) -> list[str]:
    return [entry.verb for entry in audit.entries(AuditFilter(**wanted))]  # type: ignore[arg-type]


def test_filters_narrow_the_trail() -> None:
    assert found() == ["budget.change", "runner.add", "run.resume", "run.stop"]
    assert found(person="ada") == ["run.resume", "run.stop"]
    assert found(person=audit.SYSTEM) == ["runner.add"]
    assert found(verb="run") == ["run.resume", "run.stop"]
    assert found(verb="run.stop") == ["run.stop"]
    assert found(thing="RUN 12") == ["run.resume"]
    assert found(thing="budget") == ["budget.change"]
    AuditEntry.objects.filter(verb="run.stop").update(at=timezone.now() - timedelta(days=2))
    assert found(until=timezone.now() - timedelta(days=1)) == ["run.stop"]
    assert "run.stop" not in found(since=timezone.now() - timedelta(days=1))


def test_slices_follow_one_another_whatever_comes_meanwhile() -> None:
    rows = audit.entries(AuditFilter())
    first, before = audit.slice_of(rows, before=None, limit=3)
    make.audit("run.stop", "run 99")
    second, end = audit.slice_of(rows, before=before, limit=3)
    assert ([entry.verb for entry in first], [entry.verb for entry in second], end) == (
        ["budget.change", "runner.add", "run.resume"], ["run.stop"], None,
    )  # fmt: skip


def test_walk_is_cut_into_chunks_and_has_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "CHUNK", 2)
    assert [entry.verb for entry in audit.walk(audit.entries(AuditFilter()))] == found()


def test_choices_of_the_filters() -> None:
    assert audit.verbs() == ["budget.change", "run.resume", "run.stop", "runner.add"]
    assert audit.people() == ["ada", "ben"]
