"""A supervisor and a real stage process: what is stored, what is handed over, how it ends."""

import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from eagle3web.domain import attempts, controls, procfs, runs
from eagle3web.domain.ingest import Ingestor
from eagle3web.domain.stage_process import Patience
from eagle3web.domain.supervise import Supervisor
from eagle3web.enums import AttemptStatus
from eagle3web.models import Answer, Attempt, Event, LogChunk
from pipeline.artifacts import write_json
from pipeline.control import Pause, Resume, SetBudget
from tests.support import factories
from tests.support.answers import answer
from tests.support.extraction import store_answers
from tests.support.servers import wait_until

FAKE = Path(__file__).parents[2] / "support" / "fake_stage.py"
ROOT = Path(__file__).parents[3]
IMPATIENT = Patience(stop_s=0.3, term_s=0.3)
Made = Callable[..., Attempt]


@pytest.fixture(autouse=True)
def _signals(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A supervisor takes over the process's signals; a test gives them back."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def make(home: Path) -> Made:
    """Makes an attempt of the fake stage, as launch would, with fields of its script."""

    def made(**script: Any) -> Attempt:
        folder = home / "attempt"
        folder.mkdir(parents=True)
        write_json(folder / "config.json", script)
        return factories.attempt(
            status="starting",
            host="test-host",
            folder=str(folder),
            argv=[sys.executable, "-u", str(FAKE), str(folder)],
            supervisor_pid=None,
            pid=None,
            started_at=None,
            heartbeat_at=None,
            tick_at=None,
            progress_at=None,
        )

    return made


def supervised(attempt: Attempt, patience: Patience | None = None) -> Attempt:
    Supervisor(attempt, patience=patience).run()
    return Attempt.objects.get(pk=attempt.pk)


def log_of(attempt: Attempt) -> bytes:
    return b"".join(bytes(chunk.data) for chunk in LogChunk.objects.filter(attempt=attempt))


def assert_all_is_stored(attempt: Attempt) -> None:
    """The rows are the files: every line, every byte."""
    folder = Path(attempt.folder)
    lines = (folder / "events.jsonl").read_bytes().splitlines()
    assert list(Event.objects.filter(attempt=attempt).values_list("seq", flat=True)) == list(range(1, len(lines) + 1))
    assert log_of(attempt) == (folder / "log.txt").read_bytes()
    assert (attempt.log_bytes, attempt.last_seq) == (len(log_of(attempt)), len(lines))


@pytest.mark.django_db
def test_run_follows_a_stage_to_its_end(make: Made) -> None:
    attempt = supervised(make(steps=4, first_words="Grüße\n\x1b[31mred\x1b[0m\n"))
    assert (attempt.status, attempt.run.status, attempt.reason, attempt.exit_code) == ("finished", "finished", "", 0)
    assert attempt.summary == {"tokens": 40}
    assert attempt.started_at is not None
    assert attempt.started_at <= attempt.ended_at <= timezone.now()  # type: ignore[operator]
    assert (attempt.supervisor_pid, attempt.boot_id) == (os.getpid(), procfs.boot_id())
    assert attempt.argv[-2:] == ["--supervisor-pid", str(os.getpid())]
    assert attempt.tick_at is not None
    assert [t.new for t in attempt.run.transitions.all()] == ["running", "finished"]
    row = attempt.datasets.get()
    assert (row.state, row.done, row.tokens, row.in_flight) == ("finished", 4, 40, 0)
    assert_all_is_stored(attempt)


@pytest.mark.django_db
def test_answers_are_copied_while_the_stage_works_and_the_rest_when_it_has_ended(make: Made, tmp_path: Path) -> None:
    attempt = make(steps=4)
    attempt.config = {"responses": str(store_answers(tmp_path, [answer(n) for n in range(230)])), "datasets": [{"slug": "B1"}]}
    attempt.save()
    supervisor = Supervisor(attempt)
    supervisor.run()
    attempt.refresh_from_db()
    before = Answer.objects.count()
    assert (attempt.status, before > 0) == ("finished", True)
    supervisor.copy_answers()
    assert Answer.objects.filter(project=attempt.run.project).count() == 230


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("script", "reason", "code", "number"),
    [
        ({"fail_at": 1}, "failed: disk full while writing part-00001.jsonl", 1, None),
        ({"exit_at": 1, "exit_code": 0}, "crashed: it ended without saying that it finished (exit code 0)", 0, None),
        ({"exit_at": 1, "exit_code": 7}, "crashed: exit code 7 (step 1)", 7, None),
        (
            {"exit_at": 0, "exit_code": 7, "first_words": "ValueError: <b>\n\n"},
            "crashed: exit code 7 (ValueError: <b>)",
            7,
            None,
        ),
    ],
)
def test_run_tells_how_a_stage_failed(make: Made, script: dict[str, Any], reason: str, code: int, number: int | None) -> None:
    attempt = supervised(make(**script))
    assert (attempt.status, attempt.reason, attempt.exit_code, attempt.signal) == ("failed", reason, code, number)
    assert_all_is_stored(attempt)


@pytest.mark.django_db
def test_run_tells_that_the_stage_cannot_be_started(make: Made) -> None:
    attempt = make()
    Attempt.objects.update(argv=["/nowhere/python"])
    attempt.refresh_from_db()
    attempt = supervised(attempt)
    assert attempt.status == "failed"
    assert attempt.reason.startswith("failed: the stage could not be started: [Errno 2] No such file or directory")


@pytest.mark.django_db
def test_run_leaves_an_attempt_alone_that_somebody_supervises_or_that_ended(make: Made) -> None:
    attempt = make()
    Attempt.objects.update(heartbeat_at=timezone.now())
    assert supervised(attempt).pid is None
    Attempt.objects.update(heartbeat_at=None, status="lost")
    assert (supervised(attempt).status, supervised(attempt).pid) == ("lost", None)


@pytest.mark.django_db
def test_run_stops_a_stage_that_was_asked_to(make: Made) -> None:
    attempt = make(steps=1000)
    runs.request_stop(attempt.run, user=factories.user("ada"))
    attempt = supervised(attempt)
    assert (attempt.status, attempt.reason, attempt.exit_code) == ("stopped", "stopped by ada", 3)
    message = attempt.controls.get()
    assert message.delivered_at is not None
    assert message.acknowledged_at is not None
    assert attempt.datasets.get().state == "stopped"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("stubborn", "number"), [({"ignore_stop": True}, 15), ({"ignore_stop": True, "ignore_term": True}, 9)])
def test_run_ends_a_stage_that_does_not_stop(make: Made, stubborn: dict[str, Any], number: int) -> None:
    attempt = make(steps=10_000, **stubborn)
    ada = factories.user("ada")

    def stop() -> None:
        wait_until(lambda: Event.objects.exists(), "the stage works")
        runs.request_stop(attempt.run, user=ada)
        connection.close()

    thread = threading.Thread(target=stop)
    thread.start()
    attempt = supervised(attempt, IMPATIENT)
    thread.join()
    assert (attempt.status, attempt.signal) == ("stopped", number)
    assert attempt.reason.startswith(f"stopped by ada; it did not save by itself: killed by signal {number}")


@pytest.mark.django_db
def test_run_hands_over_messages_in_order(make: Made) -> None:
    attempt = make(steps=30)
    for message in (Pause(), Resume(), SetBudget(dataset="B1", tokens=7, version=3)):
        controls.leave(attempt, message, user=None)
    attempt = supervised(attempt)
    answers = Event.objects.filter(kind__in=["status_changed", "budget_applied"]).values_list("payload", flat=True)
    assert [answer.get("paused", answer.get("budget")) for answer in answers] == [True, False, 7]
    assert all(message.delivered_at and message.acknowledged_at for message in attempt.controls.all())
    assert attempt.status == "finished"


@pytest.mark.django_db
def test_run_leaves_no_process_behind(make: Made) -> None:
    attempt = supervised(make(leave_child=True))
    assert attempt.status == "finished"
    assert list(procfs.marked("EAGLE3_ATTEMPT", attempt.folder)) == []


@pytest.mark.django_db
def test_stage_does_not_see_secrets(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE3_SECRET_KEY", "hunter2")
    monkeypatch.setenv("DATABASE_URL", "postgres://u:hunter2@h/d")
    program = "import os, sys; print('hunter2' in str(os.environ), sys.stdin.fileno(), len(os.listdir('/proc/self/fd')))"
    attempt = make()
    Attempt.objects.update(argv=[sys.executable, "-c", program])
    attempt.refresh_from_db()
    attempt = supervised(attempt)
    assert log_of(attempt) == b"False 0 4\n"


@pytest.mark.django_db(transaction=True)
def test_run_stops_when_its_own_process_is_asked_to_end(make: Made) -> None:
    attempt = make(steps=1000)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM)).start()
    attempt = supervised(attempt)
    assert (attempt.status, attempt.reason) == ("stopped", "stopped by signal 15 to its supervisor")


@pytest.mark.django_db(transaction=True)
def test_run_ends_a_stage_whose_attempt_was_ended_by_somebody_else(make: Made) -> None:
    attempt = make(steps=100_000, step_s=0.01, log_each_step=False)

    def lose() -> None:
        wait_until(lambda: Event.objects.count() > 5, "the stage works")
        row = Attempt.objects.get(pk=attempt.pk)
        attempts.mark(row, old={"running"}, new=AttemptStatus.LOST, reason="lost: nothing heard")
        connection.close()

    thread = threading.Thread(target=lose)
    thread.start()
    found = supervised(attempt)
    thread.join()
    assert (found.status, found.reason) == ("lost", "lost: nothing heard")
    assert found.datasets.get().state == "stopped"
    assert list(procfs.marked("EAGLE3_ATTEMPT", found.folder)) == []
    assert_all_is_stored(found)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_run_goes_on_while_the_database_is_locked(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("locks the whole database, as only SQLite can")
    connection.close()
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.1)
    attempt = make(steps=60, step_s=0.05, first_words="x" * 300_000 + "\n")
    events_file = Path(attempt.folder) / "events.jsonl"
    locked: list[int] = []

    def lock() -> None:
        other = sqlite3.connect(connection.settings_dict["NAME"], timeout=20)
        wait_until(lambda: Event.objects.count() > 3, "the stage works")
        connection.close()
        other.execute("BEGIN IMMEDIATE")
        before = len(events_file.read_bytes().splitlines())
        time.sleep(1.5)
        locked.append(len(events_file.read_bytes().splitlines()) - before)
        other.rollback()
        other.close()

    thread = threading.Thread(target=lock)
    thread.start()
    found = supervised(attempt)
    thread.join()
    assert locked[0] > 10
    assert found.status == "finished"
    assert found.datasets.get().tokens == 600
    assert_all_is_stored(found)


@pytest.mark.django_db(transaction=True)
def test_run_goes_on_when_what_the_stage_says_cannot_be_stored(
    make: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real, calls = Ingestor.store, [0]

    def stumble(ingestor: Ingestor) -> int:
        calls[0] += 1
        if calls[0] == 2:
            raise KeyError("a mistake of ours")
        return real(ingestor)

    monkeypatch.setattr(Ingestor, "store", stumble)
    attempt = supervised(make(steps=20))
    assert attempt.status == "finished"
    assert "the stage goes on, but what it says is not stored" in caplog.text
    assert_all_is_stored(attempt)


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.django_db(transaction=True)
def test_run_stores_the_first_line_within_a_second_of_its_being_printed(make: Made) -> None:
    attempt = make(steps=40, first_words="hello\n", log_each_step=False)
    seen: list[float] = []

    def watch() -> None:
        log = Path(attempt.folder) / "log.txt"
        wait_until(lambda: log.exists() and log.stat().st_size > 0, "the line is printed")
        printed = time.monotonic()
        wait_until(lambda: LogChunk.objects.exists(), "the line is stored")
        seen.append(time.monotonic() - printed)
        connection.close()

    thread = threading.Thread(target=watch)
    thread.start()
    supervised(attempt)
    thread.join()
    assert seen[0] < 1.0


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_run_survives_a_stage_that_does_not_read(make: Made) -> None:
    attempt = make(steps=10_000)
    for version in range(1, 601):  # more than a pipe holds
        controls.leave(attempt, SetBudget(dataset="B" * 60, tokens=version, version=version), user=None)
    pids: list[int] = []

    def freeze() -> None:
        wait_until(lambda: Attempt.objects.get().pid is not None, "the stage has started")
        pids.append(Attempt.objects.get().pid or 0)
        os.kill(pids[0], signal.SIGSTOP)
        wait_until(lambda: not attempt.controls.filter(delivered_at=None).exists(), "all messages are taken")
        beat = Attempt.objects.get().heartbeat_at
        wait_until(lambda: Attempt.objects.get().heartbeat_at > beat + timedelta(seconds=2), "the heart still beats")  # type: ignore[operator]
        os.kill(pids[0], signal.SIGCONT)
        runs.request_stop(attempt.run, user=None)
        connection.close()

    thread = threading.Thread(target=freeze)
    thread.start()
    found = supervised(attempt)
    thread.join()
    assert (found.status, found.exit_code) == ("stopped", 3)
    assert not found.controls.filter(acknowledged_at=None).exists()
