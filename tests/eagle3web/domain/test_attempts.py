"""The one door: compare-and-set, a row for each change, and what follows from it."""

import pytest

from eagle3web.domain import attempts
from eagle3web.enums import AttemptStatus, DatasetState, RunStatus
from eagle3web.models import Lease, Transition
from tests.support import factories

pytestmark = pytest.mark.django_db
LIVE = {AttemptStatus.STARTING, AttemptStatus.RUNNING, AttemptStatus.STOPPING}


def test_mark_moves_attempt_and_run_and_writes_a_transition() -> None:
    ada, attempt = factories.user("ada"), factories.attempt()
    assert attempts.mark(attempt, old=LIVE, new=AttemptStatus.FAILED, reason="crashed", author=ada, exit_code=1)
    attempt.refresh_from_db()
    assert (attempt.status, attempt.reason, attempt.exit_code) == ("failed", "crashed", 1)
    assert attempt.ended_at is not None
    assert attempt.run.status == RunStatus.FAILED
    row = Transition.objects.get()
    assert (row.old, row.new, row.reason, row.author, row.attempt) == ("running", "failed", "crashed", ada, attempt)


def test_mark_brings_the_object_up_to_date() -> None:
    attempt = factories.attempt()
    attempts.mark(attempt, old=LIVE, new=AttemptStatus.LOST, reason="gone", signal=9)
    assert (attempt.status, attempt.reason, attempt.signal) == (AttemptStatus.LOST, "gone", 9)


def test_mark_loses_a_race_politely() -> None:
    attempt = factories.attempt(status=AttemptStatus.FINISHED)
    assert not attempts.mark(attempt, old=LIVE, new=AttemptStatus.LOST, reason="late")
    attempt.refresh_from_db()
    assert (attempt.status, attempt.run.status) == ("finished", "finished")
    assert not Transition.objects.exists()


def test_mark_refuses_to_leave_a_terminal_status() -> None:
    attempt = factories.attempt(status=AttemptStatus.LOST)
    with pytest.raises(ValueError, match="does not go from lost to running"):
        attempts.mark(attempt, old={AttemptStatus.LOST}, new=AttemptStatus.RUNNING)


def test_mark_of_an_older_attempt_leaves_the_run_alone() -> None:
    first = factories.attempt()
    factories.attempt(first.run)
    assert attempts.mark(first, old=LIVE, new=AttemptStatus.LOST, reason="gone")
    first.run.refresh_from_db()
    assert first.run.status == RunStatus.RUNNING


def test_mark_terminal_frees_leases_and_closes_datasets() -> None:
    attempt = factories.attempt(paused=True)
    attempt.run.paused = True
    attempt.run.save()
    other = factories.attempt()
    Lease.objects.create(host="gpu-07", device="cuda:0", attempt=attempt)
    Lease.objects.create(host="gpu-07", device="cuda:1", attempt=other)
    running = factories.progress(attempt)
    skipped = factories.progress(attempt, state=DatasetState.SKIPPED, in_flight=0)
    attempts.mark(attempt, old=LIVE, new=AttemptStatus.STOPPED, reason="stopped by ada")
    assert [lease.device for lease in Lease.objects.all()] == ["cuda:1"]
    running.refresh_from_db()
    skipped.refresh_from_db()
    attempt.run.refresh_from_db()
    assert (running.state, running.in_flight, running.tokens_per_s, running.eta_s) == (DatasetState.STOPPED, 0, 0, None)
    assert running.tokens == 4_200_000
    assert skipped.state == DatasetState.SKIPPED
    assert (attempt.paused, attempt.run.paused) == (False, False)


def test_mark_to_a_live_status_keeps_leases() -> None:
    attempt = factories.attempt(status=AttemptStatus.STARTING)
    Lease.objects.create(host="gpu-07", device="cuda:0", attempt=attempt)
    assert attempts.mark(attempt, old={AttemptStatus.STARTING}, new=AttemptStatus.RUNNING)
    assert Lease.objects.count() == 1
    assert attempt.ended_at is None


def test_live_attempt_is_the_one_that_runs() -> None:
    first = factories.attempt(status=AttemptStatus.FAILED)
    assert attempts.live_attempt(first.run) is None
    second = factories.attempt(first.run)
    assert attempts.live_attempt(first.run) == second
