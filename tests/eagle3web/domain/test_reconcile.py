"""What was decided, compared with what is."""

import os
import subprocess
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from eagle3web.domain import procfs, reconcile
from eagle3web.domain.reconcile import Launch
from eagle3web.models import Attempt, Event, Lease, LogChunk
from pipeline import events
from tests.support import factories
from tests.support.pipelines import chain_of, finish, ready_project

pytestmark = pytest.mark.django_db


def ours(folder: Path, **fields: Any) -> Attempt:
    """A running attempt of this host whose supervisor is gone."""
    here = {"host": "test-host", "boot_id": procfs.boot_id(), "folder": str(folder)}
    return factories.attempt(**here | {"supervisor_pid": os.getpid(), "supervisor_started": 1.0} | fields)


def say(folder: Path, *said: events.Event) -> None:
    with closing(events.EventWriter(folder / "events.jsonl")) as writer:
        for event in said:
            writer.emit(event)


def test_reconcile_leaves_a_living_supervisor_alone(tmp_path: Path) -> None:
    ours(tmp_path, supervisor_started=procfs.start_time(os.getpid()), heartbeat_at=timezone.now() - timedelta(hours=1))
    assert reconcile.reconcile_host() == []


def test_reconcile_finds_a_supervisor_gone_though_its_pid_is_used_again(tmp_path: Path) -> None:
    attempt = ours(tmp_path)
    Lease.objects.create(host="test-host", device="cuda:0", attempt=attempt)
    assert reconcile.reconcile_host() == [attempt]
    attempt.refresh_from_db()
    assert (attempt.status, attempt.run.status) == ("lost", "lost")
    assert attempt.reason == f"lost: its supervisor (pid {os.getpid()}) is gone"
    assert not Lease.objects.exists()
    assert reconcile.reconcile_host() == []


def test_reconcile_finds_a_restarted_host(tmp_path: Path) -> None:
    attempt = ours(tmp_path, boot_id="another", supervisor_started=procfs.start_time(os.getpid()))
    reconcile.reconcile_host()
    attempt.refresh_from_db()
    assert attempt.reason == "lost: its host was restarted"


def test_reconcile_gives_a_supervisor_time_to_start(tmp_path: Path) -> None:
    attempt = ours(tmp_path, supervisor_pid=None, status="starting")
    assert reconcile.reconcile_host() == []
    Attempt.objects.update(created_at=timezone.now() - timedelta(seconds=60))
    assert reconcile.reconcile_host() == [attempt]
    attempt.refresh_from_db()
    assert attempt.reason == "lost: its supervisor never started; the worker that launched it is gone"


def test_reconcile_stores_what_is_left_in_the_files(tmp_path: Path) -> None:
    attempt = ours(tmp_path)
    say(tmp_path, events.Warned(text="hot"), events.Warned(text="hotter"))
    (tmp_path / "log.txt").write_text("one\ntwo")
    reconcile.reconcile_host()
    assert list(Event.objects.values_list("payload__text", flat=True)) == ["hot", "hotter"]
    assert b"".join(bytes(chunk.data) for chunk in LogChunk.objects.all()) == b"one\ntwo"
    attempt.refresh_from_db()
    assert attempt.status == "lost"


@pytest.mark.parametrize(
    ("word", "status", "reason"),
    [
        (events.StageFinished(summary={"tokens": 1}), "finished", ""),
        (events.StageInterrupted(reason="stopped by ada"), "stopped", "stopped by ada"),
        (events.StageFailed(reason="disk full"), "failed", "failed: disk full"),
    ],
)
def test_reconcile_believes_the_last_word_of_a_stage(tmp_path: Path, word: events.Event, status: str, reason: str) -> None:
    attempt = ours(tmp_path)
    say(tmp_path, word)
    reconcile.reconcile_host()
    attempt.refresh_from_db()
    assert (attempt.status, attempt.reason) == (status, reason)


def test_reconcile_calls_a_stage_lost_that_was_killed_before_its_results_were_published(
    tmp_path: Path, settings: Settings
) -> None:
    settings.EAGLE3_ARTIFACTS = str(tmp_path / "store")
    found = []
    for name in ("killed", "whole"):
        (tmp_path / name).mkdir()
        attempt = ours(tmp_path / name)
        say(tmp_path / name, events.StageFinished(summary={"tokens": 1}))
        if name == "whole":
            (tmp_path / name / "published").touch()
        reconcile.reconcile_host()
        attempt.refresh_from_db()
        found.append((attempt.status, attempt.reason.partition("; ")[2]))
    assert found == [("lost", "it had finished and not published its results yet"), ("finished", "")]


def test_reconcile_kills_what_the_attempt_left(tmp_path: Path) -> None:
    ours(tmp_path)
    left = subprocess.Popen(["/bin/sleep", "60"], env=os.environ | {"EAGLE3_ATTEMPT": str(tmp_path)})
    try:
        [attempt] = reconcile.reconcile_host()
        assert left.wait(10) == -9
        assert attempt.reason.endswith("is gone; 1 of its processes still ran and were killed")
    finally:
        left.kill()
        left.wait()


def test_reconcile_stores_what_a_lost_attempt_said_while_nobody_heard_it(tmp_path: Path) -> None:
    attempt = ours(tmp_path, status="lost", reason="lost: nothing was heard", ended_at=timezone.now())
    row = factories.progress(attempt, dataset="B1", state="stopped")
    say(
        tmp_path,
        events.Warned(text="late"),
        events.DatasetStarted(dataset="B1", prompts=9, done=3, tokens=30, budget=90, budget_version=1),
    )
    (tmp_path / "log.txt").write_text("late\n")
    assert reconcile.reconcile_host() == []
    assert Event.objects.count() == 2
    assert LogChunk.objects.count() == 1
    attempt.refresh_from_db()
    row.refresh_from_db()
    assert (attempt.status, attempt.reason, row.state, row.tokens) == ("lost", "lost: nothing was heard", "stopped", 30)


def test_reconcile_says_when_files_cannot_be_read(tmp_path: Path) -> None:
    attempt = ours(tmp_path)
    (tmp_path / "log.txt").mkdir()
    with pytest.raises(IsADirectoryError):
        reconcile.reconcile_host()
    attempt.refresh_from_db()
    assert attempt.status == "lost"
    assert attempt.reason.endswith("is gone; its files could not be read")
    assert reconcile.reconcile_host() == []


def test_reconcile_leaves_other_hosts_and_ended_attempts_alone(tmp_path: Path) -> None:
    factories.attempt(host="gpu-07")
    ours(tmp_path, status="finished")
    assert reconcile.reconcile_host() == []


def silent_host(seconds: float) -> Attempt:
    moment = timezone.now() - timedelta(seconds=seconds)
    factories.host(name="gpu-07", seen_at=moment)
    return factories.attempt(host="gpu-07", heartbeat_at=moment)


def steady(seconds: float) -> None:
    factories.host(name="test-host", steady_since=timezone.now() - timedelta(seconds=seconds))


def test_silent_hosts_lose_their_attempts() -> None:
    attempt = silent_host(31)
    steady(600)
    assert reconcile.reconcile_silent_hosts() == [attempt]
    attempt.refresh_from_db()
    assert attempt.status == "lost"
    assert attempt.reason.startswith("lost: nothing was heard of it or of its host gpu-07 for 31 s")


@pytest.mark.parametrize("silence", [1, 29])
def test_silent_hosts_have_thirty_seconds(silence: float) -> None:
    silent_host(silence)
    steady(600)
    assert reconcile.reconcile_silent_hosts() == []


def test_silent_hosts_are_not_judged_by_one_that_was_away_itself() -> None:
    silent_host(300)
    assert reconcile.reconcile_silent_hosts() == []
    steady(20)
    assert reconcile.reconcile_silent_hosts() == []


def test_silent_attempt_of_a_host_that_is_heard_is_that_hosts_own_business() -> None:
    attempt = silent_host(300)
    steady(600)
    factories.host(name="gpu-08")
    Attempt.objects.filter(pk=attempt.pk).update(host="gpu-08")
    assert reconcile.reconcile_silent_hosts() == []


def test_forgotten_launches_are_the_next_attempts_of_queued_runs() -> None:
    first = factories.run()
    again = factories.attempt(status="lost").run
    type(again).objects.filter(pk=again.pk).update(status="queued", host="gpu-07")
    factories.attempt()
    assert reconcile.forgotten_launches() == [Launch(first.pk, 1, "test-host")]
    factories.host(name="gpu-07")
    assert reconcile.forgotten_launches() == [Launch(first.pk, 1, "test-host"), Launch(again.pk, 2, "gpu-07")]


def test_forgotten_launches_give_a_device_to_the_oldest_run_that_asks_for_it() -> None:
    factories.host(name="gpu-07", sample={"gpus": [{"index": 0}]})
    first, _second = (factories.run(stage="train", devices=["cuda:*"]) for _ in range(2))
    assert reconcile.forgotten_launches() == [Launch(first.pk, 1, "gpu-07")]


def test_forgotten_launches_leave_out_runs_that_wait_for_others() -> None:
    generate, extract, *_ = chain_of(ready_project())
    assert reconcile.forgotten_launches() == [Launch(generate.pk, 1, "test-host")]
    finish(generate)
    assert reconcile.forgotten_launches() == [Launch(extract.pk, 1, "test-host")]
