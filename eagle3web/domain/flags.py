"""Answers that people find bad: flagged by one step, excluded or kept by a second.

An excluded answer stays on disk and counts as generated: no budget is reopened by it.
"""

from functools import partial

from django.db import transaction
from django.utils import timezone

from eagle3web.domain.audit import record
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.enums import FlagState
from eagle3web.models import Answer, AnswerFlag, User
from eagle3web.pokes import poke, project_topic

REASON_LIMIT = 300


def flag_answer(answer: Answer, *, reason: str, user: User | None) -> AnswerFlag:
    """Say that an answer is bad, for somebody to look at. One that was kept is flagged again.

    Consequences: a row in the review queue and an audit entry; training goes on as before. Raises NotAllowedNow for an answer
    without text, and for one that is flagged or excluded already.
    """
    if answer.error:
        raise NotAllowedNow("this prompt gave no answer, so there is nothing to leave out")
    said = {"state": FlagState.FLAGGED, "reason": reason[:REASON_LIMIT], "author": user, "created_at": timezone.now()}
    name = {"project": answer.project, "dataset": answer.dataset, "key": answer.key}
    with transaction.atomic():
        found, created = AnswerFlag.objects.get_or_create(**name, defaults=said)
        if not created:
            again = AnswerFlag.objects.filter(pk=found.pk, state=FlagState.KEPT)
            if not again.update(**said, reviewed_by=None, reviewed_at=None):
                found.refresh_from_db()
                raise NotAllowedNow(f"it is {found.state} already")
            found.refresh_from_db()
        _tell(found, "answer.flag", user, reason=found.reason)
    return found


def exclude(found: AnswerFlag, *, user: User | None) -> bool:
    """Leave the answer out of extractions and trainings that start from now on; False when it is excluded already.

    What runs keeps the list that it started with.
    """
    return _review(found, FlagState.EXCLUDED, "answer.exclude", user)


def keep(found: AnswerFlag, *, user: User | None) -> bool:
    """Find the answer good after all: what starts from now on reads it; False when it is kept already."""
    return _review(found, FlagState.KEPT, "answer.keep", user)


def _review(found: AnswerFlag, state: FlagState, verb: str, user: User | None) -> bool:
    """Compare-and-set: of two people with the same wish one is first, and the last word stands."""
    with transaction.atomic():
        rows = AnswerFlag.objects.filter(pk=found.pk).exclude(state=state)
        if not rows.update(state=state, reviewed_by=user, reviewed_at=timezone.now()):
            return False
        found.refresh_from_db()
        _tell(found, verb, user)
    return True


def _tell(found: AnswerFlag, verb: str, user: User | None, **detail: object) -> None:
    record(user, verb, found, dataset=found.dataset, key=found.key, **detail)
    transaction.on_commit(partial(poke, project_topic(found.project_id)))
