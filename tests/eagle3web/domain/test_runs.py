"""What people do with runs."""

from collections.abc import Callable

import pytest

from eagle3web.domain import runs
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.enums import AttemptStatus, RunStatus, Stage
from eagle3web.models import AuditEntry, ControlMessage, Run, Transition, User
from pipeline.errors import ConfigError
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return factories.user("ada")


def config(**changes: object) -> dict[str, object]:
    return {"project": "p", "responses": "/r", "tokenizer": "/t"} | changes


def created(user: User, **changes: object) -> Run:
    return runs.create_run(factories.project(), stage=Stage.GENERATE, config=config(**changes), user=user)


def test_create_run_queues_a_frozen_config(ada: User) -> None:
    run = created(ada, concurrency=4)
    assert (run.status, run.author, run.config["concurrency"], run.config["order"]) == ("queued", ada, 4, "sequential")
    assert len(run.config_hash) == 8
    assert Transition.objects.get().reason == "created by ada"
    assert AuditEntry.objects.get().verb == "run.create"


@pytest.mark.parametrize(
    ("stage", "changes", "message"),
    [
        (Stage.GENERATE, {"concurency": 4}, "unknown key concurency"),
        (Stage.GENERATE, {"concurrency": "4"}, "'4' is not a number"),
        ("juggle", {}, "the stage juggle cannot be run"),
    ],
)
def test_create_run_refuses_a_config_that_makes_no_sense(
    ada: User, stage: str, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        runs.create_run(factories.project(), stage=stage, config=config(**changes), user=ada)
    assert not Run.objects.exists()


def test_clone_changes_what_it_is_told_to(ada: User) -> None:
    run = created(ada, concurrency=4)
    copy = runs.clone(run, user=ada, changes={"concurrency": 9})
    assert copy.cloned_from == run
    assert copy.config == run.config | {"concurrency": 9}
    assert copy.config_hash != run.config_hash


@pytest.mark.parametrize("status", ["failed", "lost"])
def test_settle_lasts_until_the_run_goes_on(ada: User, status: str) -> None:
    run = factories.attempt(status=status).run
    assert runs.settle(run, user=ada)
    assert run.settled_at is not None
    assert not runs.settle(run, user=ada)
    assert AuditEntry.objects.get(verb="run.settle").user == ada
    assert runs.resume(run, user=ada)
    assert run.settled_at is None
    assert run.queued_at > run.created_at


def test_settle_takes_a_run_that_ended_with_errors(ada: User) -> None:
    attempt = factories.attempt(status="finished")
    factories.progress(attempt, done=0, errors=300)
    assert runs.settle(attempt.run, user=ada)
    assert (attempt.run.status, AuditEntry.objects.get(verb="run.settle").user) == ("finished", ada)


@pytest.mark.parametrize("status", ["running", "finished"])
def test_settle_refuses_what_is_not_broken(ada: User, status: str) -> None:
    run = factories.attempt(status=status).run
    with pytest.raises(NotAllowedNow, match=f"is {status}; only a run that failed, is lost, or ended with errors is settled"):
        runs.settle(run, user=ada)
    run.refresh_from_db()
    assert run.settled_at is None


def test_request_stop_ends_a_queued_run_at_once(ada: User) -> None:
    run = created(ada)
    assert runs.request_stop(run, user=ada)
    assert (run.status, run.stop_requested_by) == (RunStatus.STOPPED, ada)
    assert Transition.objects.filter(new="stopped").get().reason == "stopped by ada before it started"


def test_request_stop_leaves_a_message_for_a_live_attempt(ada: User) -> None:
    attempt = factories.attempt()
    assert runs.request_stop(attempt.run, user=ada)
    attempt.refresh_from_db()
    assert (attempt.status, attempt.run.status, attempt.reason) == ("stopping", "stopping", "ada asked it to stop")
    message = ControlMessage.objects.get()
    assert (message.kind, message.payload, message.author) == ("stop", {"reason": "stopped by ada"}, ada)
    assert AuditEntry.objects.get(verb="run.stop").user == ada


def test_request_stop_twice_asks_once(ada: User) -> None:
    attempt = factories.attempt()
    assert runs.request_stop(attempt.run, user=ada)
    assert not runs.request_stop(attempt.run, user=factories.user("bob"))
    assert ControlMessage.objects.count() == 1
    assert attempt.run.stop_requested_by == ada


@pytest.mark.parametrize("status", sorted(AttemptStatus.TERMINAL))
def test_request_stop_of_an_ended_run_is_not_allowed(ada: User, status: str) -> None:
    attempt = factories.attempt(status=status)
    with pytest.raises(NotAllowedNow, match=f"generate is {status} already"):
        runs.request_stop(attempt.run, user=ada)


@pytest.mark.parametrize("status", ["stopped", "failed", "lost"])
def test_resume_queues_again_and_forgets_the_stop(ada: User, status: str) -> None:
    attempt = factories.attempt(status=status)
    Run.objects.update(stop_requested_by=ada, paused=True)
    attempt.run.refresh_from_db()
    assert runs.resume(attempt.run, user=ada)
    run = Run.objects.get()
    assert (run.status, run.stop_requested_by, run.paused) == ("queued", None, False)
    row = Transition.objects.get()
    assert (row.old, row.new, row.reason) == (status, "queued", "resumed by ada")
    attempt.refresh_from_db()
    assert attempt.status == status


@pytest.mark.parametrize("status", ["starting", "running", "stopping", "finished"])
def test_resume_of_a_live_or_finished_run_is_not_allowed(ada: User, status: str) -> None:
    run = factories.attempt(status=status).run
    with pytest.raises(NotAllowedNow, match=f"is {status}; only a stopped, failed or lost run is resumed"):
        runs.resume(run, user=ada)


def test_resume_loses_a_race_politely(ada: User) -> None:
    run = factories.attempt(status="failed").run
    mine = Run.objects.get()
    assert runs.resume(run, user=ada)
    assert not runs.resume(mine, user=ada)
    assert Transition.objects.count() == 1


def test_pause_and_unpause_leave_messages(ada: User) -> None:
    run = factories.attempt().run
    runs.pause(run, user=ada)
    assert run.paused
    runs.unpause(run, user=ada)
    assert not run.paused
    assert [message.kind for message in ControlMessage.objects.all()] == ["pause", "resume"]


def test_set_concurrency_leaves_a_message(ada: User) -> None:
    run = factories.attempt().run
    runs.set_concurrency(run, 32, user=ada)
    assert ControlMessage.objects.get().payload == {"n": 32}
    with pytest.raises(NotAllowedNow, match="at least one"):
        runs.set_concurrency(run, 0, user=ada)


@pytest.mark.parametrize("verb", [runs.pause, runs.unpause, lambda run, user: runs.set_concurrency(run, 3, user=user)])
@pytest.mark.parametrize("status", ["stopping", "finished", "lost"])
def test_steering_needs_a_running_run(ada: User, verb: Callable[..., None], status: str) -> None:
    run = factories.attempt(status=status).run
    with pytest.raises(NotAllowedNow, match=f"is {status}; only a running run can be steered"):
        verb(run, user=ada)
    assert not ControlMessage.objects.exists()
    assert not AuditEntry.objects.exists()
