"""Swapping the drafter of a server."""

from typing import Any

import pytest
from django.utils import timezone

from eagle3web.domain import serving
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.models import Attempt, AuditEntry, Checkpoint, ControlMessage, Project
from pipeline.errors import ConfigError
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    return factories.attempt(factories.run(stage="serve"))


def checkpoint_of(project: Project, **fields: Any) -> Checkpoint:
    return factories.checkpoint(factories.attempt(factories.run(project, stage="train")), step=400, **fields)


def test_swap_asks_the_live_attempt_and_is_audited(attempt: Attempt) -> None:
    ada = factories.user("ada")
    checkpoint = checkpoint_of(attempt.run.project)
    serving.swap_drafter(attempt.run, checkpoint, user=ada)
    message = ControlMessage.objects.get()
    assert (message.kind, message.author) == ("swap_drafter", ada)
    assert message.payload == {"drafter": checkpoint.path, "name": f"r{checkpoint.run_id} step 400"}
    serving.swap_drafter(attempt.run, None, user=ada)
    assert ControlMessage.objects.last().payload == {"drafter": "", "name": ""}  # type: ignore[union-attr]
    assert [entry.verb for entry in AuditEntry.objects.all()] == ["run.swap_drafter"] * 2


def test_what_makes_no_sense_is_refused(attempt: Attempt) -> None:
    elsewhere, gone = factories.checkpoint(), checkpoint_of(attempt.run.project, removed_at=timezone.now())
    with pytest.raises(ConfigError, match="belongs to another project"):
        serving.swap_drafter(attempt.run, elsewhere, user=None)
    with pytest.raises(ConfigError, match="was removed from disk"):
        serving.swap_drafter(attempt.run, gone, user=None)
    with pytest.raises(NotAllowedNow, match="serves nothing"):
        serving.swap_drafter(elsewhere.run, elsewhere, user=None)
    ended = factories.attempt(factories.run(stage="serve"), status="stopped")
    with pytest.raises(NotAllowedNow, match="is stopped; only a running server"):
        serving.swap_drafter(ended.run, None, user=None)
    assert not ControlMessage.objects.exists()


def test_checkpoint_that_was_given_up_meanwhile_is_refused(attempt: Attempt) -> None:
    read_before = checkpoint_of(attempt.run.project)
    Checkpoint.objects.update(removed_at=timezone.now())
    with pytest.raises(ConfigError, match="was removed from disk"):
        serving.swap_drafter(attempt.run, read_before, user=None)
    assert not ControlMessage.objects.exists()
