"""What people are told of: once, of what they want to hear, in the transaction of what happened."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.urls import resolve
from django.utils import timezone

from eagle3web.domain import attempts, notifications
from eagle3web.enums import AttemptStatus, NotificationKind, Stage
from eagle3web.models import Attempt, Notification, NotificationChannel
from pipeline.events import DatasetFinished
from tests.support import factories as make
from tests.support import told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def channel() -> NotificationChannel:
    return make.channel(make.user("ada"))


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    return make.attempt(make.run(title="nightly"), folder=str(tmp_path / "attempt"))


def end(attempt: Attempt, status: AttemptStatus, reason: str = "") -> None:
    attempts.mark(attempt, old={AttemptStatus.RUNNING}, new=status, reason=reason)


def subjects() -> list[str]:
    return list(Notification.objects.order_by("id").values_list("subject", flat=True))


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (AttemptStatus.FINISHED, "finished", "finished"),
        (AttemptStatus.FAILED, "failed", "failed"),
        (AttemptStatus.LOST, "lost", "is lost"),
    ],
)
def test_an_end_is_told_once(
    channel: NotificationChannel, attempt: Attempt, status: AttemptStatus, kind: str, said: str
) -> None:
    end(attempt, status, "why\x1b it ended")
    end(attempt, status, "again")
    row = Notification.objects.get()
    assert (row.channel, row.kind, row.subject) == (channel, kind, f"r{attempt.run_id} generate {said}")
    assert "nightly\nwhy␛ it ended" in row.body
    assert (row.path, row.sent_at, row.tries) == (f"/runs/{attempt.run_id}/", None, 0)


def test_text_of_others_calls_nobody_in_a_chat(channel: NotificationChannel, attempt: Attempt) -> None:
    end(attempt, AttemptStatus.FAILED, "<!channel> @everyone <@U1> said ada@example.org")
    assert "< !channel> @ everyone < @U1> said ada@example.org" in Notification.objects.get().body


def test_a_run_that_cannot_start_is_told_each_time(channel: NotificationChannel) -> None:
    run = make.run()
    for _ in range(2):
        attempts.record_transition(run, old="queued", new="failed", reason="failed: no tokenizer", author=None)
    assert subjects() == [f"r{run.pk} generate failed"] * 2
    assert "attempt" not in Notification.objects.earliest("id").body


def test_a_stop_that_somebody_asked_for_is_no_news(channel: NotificationChannel, attempt: Attempt) -> None:
    end(attempt, AttemptStatus.STOPPED, "stopped by ada")
    assert subjects() == []


def test_nothing_is_told_of_what_was_rolled_back(channel: NotificationChannel, attempt: Attempt) -> None:
    with transaction.atomic():
        end(attempt, AttemptStatus.FAILED)
        assert len(subjects()) == 1
        transaction.set_rollback(True)
    assert subjects() == []


def test_channels_hear_only_what_they_want(attempt: Attempt) -> None:
    ada, other = make.user("ada"), make.project()
    attempt.run.author = ada
    attempt.run.save()
    make.channel(ada, name="all")
    make.channel(ada, name="failures", kinds=[NotificationKind.FAILED])
    make.channel(ada, name="finished", kinds=[NotificationKind.FINISHED])
    make.channel(ada, name="mine", own_runs_only=True)
    make.channel(make.user("ben"), name="his", own_runs_only=True)
    make.channel(ada, name="off", enabled=False)
    make.channel(make.user("gone", is_active=False), name="gone")
    make.channel(ada, name="this project").projects.add(attempt.run.project)
    make.channel(ada, name="other project").projects.add(other)
    end(attempt, AttemptStatus.FAILED)
    told_to = Notification.objects.values_list("channel__name", flat=True)
    assert sorted(told_to) == ["all", "failures", "mine", "this project"]


def finished(tokens: int, budget: int, reason: str = "budget_met") -> DatasetFinished:
    numbers: dict[str, Any] = {"done": 10, "total": 20, "errors": 0, "truncated": 0, "longest": 9}
    return DatasetFinished(dataset="B1", reason=reason, tokens=tokens, budget=budget, **numbers)


def test_a_met_budget_is_told_with_its_numbers_and_again_after_a_raise(channel: NotificationChannel, attempt: Attempt) -> None:
    told.tell(attempt, [(1, finished(1200, 1000)), (2, finished(700, 1000, "exhausted"))])
    assert subjects() == ["B1: budget met, 1.2 k of 1.0 k tokens"]
    assert notifications.tell_of_event(attempt, finished(1200, 1000)) == 1
    assert len(subjects()) == 1
    notifications.tell_of_event(attempt, finished(2500, 2000))
    assert subjects()[1:] == ["B1: budget met, 2.5 k of 2.0 k tokens"]


def test_only_a_checkpoint_that_decodes_further_is_told(channel: NotificationChannel, attempt: Attempt) -> None:
    first = make.checkpoint(make.attempt(make.run(stage=Stage.TRAIN)), step=100, metrics={"accept_length": 2.0})
    for length, told_of in ((2.0, 0), (None, 0), (2.5, 1), (2.4, 0)):
        metrics = {"accept_length": length} if length else {"eval_loss": 1.0}
        assert notifications.tell_of_checkpoint(make.checkpoint(first.attempt, metrics=metrics)) == told_of
    (row,) = Notification.objects.all()
    assert "accept length 2.50, the best so far" in row.subject
    assert "the best before was 2.00" in row.body


def test_saved_checkpoint_tells_through_its_event(channel: NotificationChannel, tmp_path: Path) -> None:
    training = make.attempt(make.run(stage=Stage.TRAIN), folder=str(tmp_path / "training"))
    told.tell(training, [(1, told.saved(training, 200))])
    assert Notification.objects.get().kind == "best_checkpoint"


@pytest.fixture
def steady() -> None:
    """This host reports without a gap."""
    make.host(name="test-host", steady_since=timezone.now() - timedelta(hours=1))


@pytest.mark.usefixtures("steady")
def test_silence_is_told_once_for_each_time(channel: NotificationChannel, attempt: Attempt) -> None:
    now = timezone.now()
    assert notifications.tell_of_silence(now) == 0
    Attempt.objects.update(tick_at=now - timedelta(seconds=10))
    assert notifications.tell_of_silence(now) == 0
    Attempt.objects.update(tick_at=now - timedelta(seconds=30))
    notifications.tell_of_silence(now)
    notifications.tell_of_silence(now + timedelta(seconds=1))
    assert subjects() == [f"r{attempt.run_id} generate is silent"]
    later = now + timedelta(minutes=5)
    Attempt.objects.update(tick_at=later - timedelta(seconds=40), heartbeat_at=later)
    notifications.tell_of_silence(later)
    assert len(subjects()) == 2


def test_whoever_was_away_itself_does_not_judge_silence(channel: NotificationChannel, attempt: Attempt) -> None:
    now = timezone.now()
    Attempt.objects.update(heartbeat_at=now - timedelta(minutes=5))
    host = make.host(name="test-host", steady_since=now - timedelta(seconds=5))
    assert notifications.tell_of_silence(now) == 0
    host.steady_since = now - timedelta(minutes=1)
    host.save()
    assert notifications.tell_of_silence(now) == 1


@pytest.mark.usefixtures("steady")
def test_a_host_that_is_not_heard_of_is_told_too(channel: NotificationChannel, attempt: Attempt) -> None:
    now = timezone.now()
    Attempt.objects.update(heartbeat_at=now - timedelta(seconds=25))
    notifications.tell_of_silence(now)
    assert subjects() == [f"r{attempt.run_id} generate is unresponsive"]


def test_paths_lead_to_pages(channel: NotificationChannel, attempt: Attempt, steady: None) -> None:
    checkpoint = make.checkpoint(attempt)
    notifications.tell_of_checkpoint(checkpoint)
    Attempt.objects.filter(pk=attempt.pk).update(tick_at=timezone.now() - timedelta(minutes=1))
    notifications.tell_of_silence(timezone.now())
    end(attempt, AttemptStatus.FAILED)
    found = [resolve(path).url_name for path in Notification.objects.order_by("id").values_list("path", flat=True)]
    assert found == ["checkpoint", "attempt", "run"]
