"""Who did what to what, as rows."""

import pytest

from eagle3web.domain.audit import record
from eagle3web.models import AuditEntry
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def test_record_names_person_verb_and_row() -> None:
    user, run = make.user("ada"), make.run()
    record(user, "run.stop", run, reason="too slow")
    assert list(AuditEntry.objects.values_list("user__username", "verb", "target", "detail")) == [
        ("ada", "run.stop", f"run {run.pk}", {"reason": "too slow"})
    ]


def test_record_without_a_person_is_the_system() -> None:
    entry = record(None, "host.lost", "host " + "h" * 300)
    assert entry.user is None
    assert len(entry.target) == 200
