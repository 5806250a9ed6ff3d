"""Messages to live attempts, and the events that acknowledge them."""

import pytest
from django.utils import timezone

from eagle3web.domain import controls
from eagle3web.models import Attempt, ControlMessage, Run
from pipeline.control import Pause, Resume, SetBudget, SetConcurrency, Stop, SwapDrafter
from pipeline.event import Event
from pipeline.events import BudgetApplied, ConcurrencyApplied, StageInterrupted, StatusChanged
from pipeline.server_events import DrafterSwapped
from tests.support import factories

pytestmark = pytest.mark.django_db


def budget(version: int, dataset: str = "B1") -> SetBudget:
    return SetBudget(dataset=dataset, tokens=100, version=version)


def applied(version: int, dataset: str = "B1") -> BudgetApplied:
    return BudgetApplied(dataset=dataset, budget=100, previous=50, budget_version=version)


def acknowledged(attempt: Attempt, event: Event) -> list[bool]:
    """Whether each message is acknowledged once the event has come."""
    controls.acknowledge(attempt, event, at=timezone.now())
    return [message.acknowledged_at is not None for message in attempt.controls.all()]


def test_send_leaves_a_message_for_the_live_attempt_only() -> None:
    run: Run = factories.run()
    assert controls.send(run, Pause(), user=None) is None
    attempt = factories.attempt(run)
    message = controls.send(run, SetConcurrency(n=3), user=None)
    assert message is not None
    assert (message.attempt, message.kind, message.payload) == (attempt, "set_concurrency", {"n": 3})


def test_send_budget_reaches_live_attempts_of_the_project_that_have_the_dataset() -> None:
    ada, project = factories.user("ada"), factories.project()
    wanted = factories.attempt(factories.run(project))
    factories.progress(wanted, dataset="B1")
    without = factories.attempt(factories.run(project))
    factories.progress(without, dataset="B2")
    ended = factories.attempt(factories.run(project), status="finished")
    factories.progress(ended, dataset="B1")
    factories.progress(factories.attempt(), dataset="B1")
    found = controls.send_budget(project, "B1", 500, None, True, 7, ada)
    assert [message.attempt for message in found] == [wanted]
    message = ControlMessage.objects.get()
    assert message.payload == {"dataset": "B1", "tokens": 500, "max_samples": None, "enabled": True, "version": 7}
    assert message.author == ada


def test_acknowledge_budget_answers_older_versions_of_that_dataset() -> None:
    attempt = factories.attempt()
    for message in (budget(2), budget(3), budget(4), budget(3, "B2")):
        controls.leave(attempt, message, user=None)
    assert acknowledged(attempt, applied(3)) == [True, True, False, False]


def test_acknowledge_concurrency_answers_what_was_asked_up_to_then() -> None:
    attempt = factories.attempt()
    for n in (4, 8, 16):
        controls.leave(attempt, SetConcurrency(n=n), user=None)
    assert acknowledged(attempt, ConcurrencyApplied(concurrency=5, previous=4)) == [False, False, False]
    assert acknowledged(attempt, ConcurrencyApplied(concurrency=8, previous=4)) == [True, True, False]


def test_acknowledge_pause_and_resume_answer_what_was_delivered() -> None:
    attempt = factories.attempt()
    for message in (Pause(), Resume(), Pause()):
        controls.leave(attempt, message, user=None)
    attempt.controls.filter(pk__in=list(attempt.controls.values_list("pk", flat=True)[:2])).update(delivered_at=timezone.now())
    assert acknowledged(attempt, StatusChanged(text="paused", paused=True)) == [True, False, False]
    assert acknowledged(attempt, StatusChanged(text="", paused=False)) == [True, True, False]


def test_acknowledge_stop() -> None:
    attempt = factories.attempt()
    controls.leave(attempt, Stop(reason="stopped by ada"), user=None)
    assert acknowledged(attempt, StageInterrupted(reason="stopped by ada")) == [True]


def test_acknowledge_leaves_other_attempts_alone() -> None:
    attempt, other = factories.attempt(), factories.attempt()
    controls.leave(other, budget(1), user=None)
    controls.acknowledge(attempt, applied(1), at=timezone.now())
    assert ControlMessage.objects.get().acknowledged_at is None


def test_swapped_drafter_answers_the_wish_for_it_and_older_ones() -> None:
    attempt = factories.attempt(factories.run(stage="serve"))
    for drafter in ("a", "b", "c"):
        controls.leave(attempt, SwapDrafter(drafter=drafter, name=drafter), user=None)
    assert acknowledged(attempt, DrafterSwapped(drafter="b", name="b", previous="")) == [True, True, False]
