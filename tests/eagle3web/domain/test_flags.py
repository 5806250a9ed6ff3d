"""Who says what of an answer, and what follows."""

import pytest

from eagle3web.domain import flags
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.models import AuditEntry
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_flag_waits_for_a_second_step() -> None:
    answer, ada = factories.stored_answer(), factories.user("ada")
    found = flags.flag_answer(answer, reason="it loops", user=ada)
    assert (found.key, found.dataset, found.state, found.reason, found.author) == (
        answer.key, "B1", "flagged", "it loops", ada,
    )  # fmt: skip
    assert found.reviewed_by is None
    entry = AuditEntry.objects.get()
    assert (entry.verb, entry.user) == ("answer.flag", ada)
    assert entry.detail == {"dataset": "B1", "key": answer.key, "reason": "it loops"}


def test_exclude_and_keep_say_who_and_when() -> None:
    found, bea = factories.flag(factories.stored_answer()), factories.user("bea")
    assert flags.exclude(found, user=bea)
    assert (found.state, found.reviewed_by) == ("excluded", bea)
    assert found.reviewed_at is not None
    assert flags.keep(found, user=bea)
    assert found.state == "kept"
    assert [entry.verb for entry in AuditEntry.objects.order_by("id")] == ["answer.exclude", "answer.keep"]


def test_the_same_decision_twice_changes_nothing() -> None:
    found, ada = factories.flag(factories.stored_answer()), factories.user("ada")
    flags.exclude(found, user=ada)
    assert not flags.exclude(found, user=factories.user("bea"))
    found.refresh_from_db()
    assert found.reviewed_by == ada
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize("state", ["flagged", "excluded"])
def test_an_answer_is_flagged_once(state: str) -> None:
    answer = factories.stored_answer()
    factories.flag(answer, state=state, reason="first")
    with pytest.raises(NotAllowedNow, match=f"it is {state} already"):
        flags.flag_answer(answer, reason="second", user=None)


def test_a_kept_answer_can_be_flagged_again() -> None:
    answer, ada = factories.stored_answer(), factories.user("ada")
    factories.flag(answer, state="kept", reviewed_by=ada, reason="first")
    found = flags.flag_answer(answer, reason="second", user=ada)
    assert (found.state, found.reason, found.reviewed_by) == ("flagged", "second", None)


def test_an_error_cannot_be_flagged() -> None:
    with pytest.raises(NotAllowedNow, match="gave no answer"):
        flags.flag_answer(factories.stored_answer(error="too long"), reason="odd", user=None)
