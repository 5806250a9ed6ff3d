"""Runs over the API: made from a project's budgets, listed, steered by the rules of their state."""

import pytest
from pytest_django import DjangoAssertNumQueries

from eagle3web import tasks
from eagle3web.enums import AttemptStatus, Role, RunStatus
from eagle3web.models import ControlMessage, Project, Run
from tests.support import factories as make
from tests.support.api import Caller, caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Caller:
    return caller("ada", Role.OPERATOR)


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that were sent to the workers."""
    sent: list[int] = []
    monkeypatch.setattr(tasks, "launch_soon", lambda run: sent.append(run.pk))
    return sent


@pytest.fixture
def project() -> Project:
    """A project that can run: one budget with a ready revision, and one engine."""
    found = make.project(slug="k2")
    make.revision((budget := make.budget(found)).dataset)
    make.engine(name="e1")
    assert budget.enabled
    return found


def test_run_is_created_and_sent(api: Caller, project: Project, launched: list[int]) -> None:
    answer = api.post("/api/runs", {"project": "k2", "concurrency": 4, "title": "First", "tags": ["night"]})
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert (body["status"], body["shown"]["state"], body["author"], body["tags"]) == ("queued", "queued", "ada", ["night"])
    assert launched == [body["id"]]
    config = api.get(f"/api/runs/{body['id']}").json()["config"]
    assert (config["concurrency"], [engine["name"] for engine in config["engines"]]) == (4, ["e1"])


@pytest.mark.parametrize(
    ("changes", "status", "word"),
    [
        ({"project": "nothing"}, 404, "no such thing"),
        ({"engines": ["e1", "ghost"]}, 422, "ghost"),
        ({"concurrency": 0}, 422, "concurrency"),
        ({"concurrency": "8"}, 422, "concurrency"),
        ({"order": "random"}, 422, "order"),
        ({"stage": "juggle"}, 422, "stage"),
        ({"tags": [""]}, 422, "tags.0"),
        ({"title": "x" * 201}, 422, "title"),
    ],
)
def test_run_that_makes_no_sense_is_refused(
    api: Caller, project: Project, launched: list[int], changes: dict[str, object], status: int, word: str
) -> None:
    answer = api.post("/api/runs", {"project": "k2"} | changes)
    assert answer.status_code == status
    assert word in answer.json()["detail"]
    assert (Run.objects.count(), launched) == (0, [])


def test_project_without_budgets_or_prompts_is_explained(api: Caller, launched: list[int]) -> None:
    empty, without_prompts = make.project(), make.project()
    make.budget(without_prompts)
    assert "no engine" in api.post("/api/runs", {"project": empty.slug}).json()["detail"]
    make.engine()
    assert "no budget yet" in api.post("/api/runs", {"project": empty.slug}).json()["detail"]
    assert "no revision of it is ready" in api.post("/api/runs", {"project": without_prompts.slug}).json()["detail"]


def test_list_filters_and_pages(api: Caller) -> None:
    k2, other = make.project(slug="k2"), make.project(slug="other")
    first = make.run(k2, title="Night run", tags=["night", "ünïcode"])
    second = make.attempt(make.run(k2, title="Day run")).run
    third = make.run(other, status=RunStatus.FINISHED)

    def ids(**query: object) -> list[int]:
        return [run["id"] for run in api.get("/api/runs", **query).json()["items"]]

    assert ids() == [third.pk, second.pk, first.pk]
    assert ids(project="k2") == [second.pk, first.pk]
    assert ids(status="finished") == [third.pk]
    assert ids(status=["live"]) == [second.pk, first.pk]
    assert ids(status=["running", "finished"]) == [third.pk, second.pk]
    assert ids(q="night") == [first.pk]
    assert ids(q=str(second.pk)) == [second.pk]
    assert ids(tag="ünïcode") == [first.pk]
    assert ids(q="9" * 30) == []
    assert ids(limit=1, offset=1) == [second.pk]
    assert api.get("/api/runs", limit=1).json()["count"] == 3


def test_list_of_many_runs_takes_few_queries(api: Caller, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for _ in range(10):
        make.attempt()
    with django_assert_max_num_queries(12):
        assert len(api.get("/api/runs").json()["items"]) == 10


def test_run_shows_all_its_attempts(api: Caller) -> None:
    run = make.run()
    first = make.attempt(run, status=AttemptStatus.LOST, reason="host gone")
    second = make.attempt(run)
    body = api.get(f"/api/runs/{run.pk}").json()
    assert [(a["id"], a["number"], a["shown"]["state"]) for a in body["attempts"]] == [
        (first.pk, 1, "lost"),
        (second.pk, 2, "running"),
    ]
    assert (body["last_attempt"], body["shown"]["state"]) == (second.pk, "running")


def test_stop_says_who_asked(api: Caller) -> None:
    attempt = make.attempt()
    body = api.post(f"/api/runs/{attempt.run_id}/stop").json()
    assert (body["status"], body["stop_requested_by"]) == ("stopping", "ada")
    assert ControlMessage.objects.get().payload["reason"] == "stopped by ada"


def test_resume_starts_the_next_attempt(api: Caller, launched: list[int]) -> None:
    attempt = make.attempt(status=AttemptStatus.LOST)
    body = api.post(f"/api/runs/{attempt.run_id}/resume").json()
    assert (body["status"], launched) == ("queued", [attempt.run_id])


def test_settle_leaves_a_failed_run_as_it_is(api: Caller) -> None:
    attempt = make.attempt(status=AttemptStatus.FAILED)
    assert api.post(f"/api/runs/{attempt.run_id}/settle").json()["status"] == "failed"
    assert Run.objects.get().settled_at is not None


def test_settle_takes_a_run_that_ended_with_errors_and_no_other_finished_one(api: Caller) -> None:
    erring, fine = (make.attempt(status=AttemptStatus.FINISHED) for _ in range(2))
    make.progress(erring, done=0, errors=300)
    assert api.post(f"/api/runs/{erring.run_id}/settle").json()["settled_at"] is not None
    assert api.post(f"/api/runs/{fine.run_id}/settle").status_code == 409


def test_steering_reaches_the_live_attempt(api: Caller) -> None:
    attempt = make.attempt()
    path = f"/api/runs/{attempt.run_id}"
    assert api.post(f"{path}/pause").json()["paused"] is True
    assert api.post(f"{path}/unpause").json()["paused"] is False
    assert api.post(f"{path}/concurrency", {"n": 32}).status_code == 200
    assert list(ControlMessage.objects.values_list("kind", flat=True)) == ["pause", "resume", "set_concurrency"]


def test_drafter_of_a_server_is_swapped(api: Caller) -> None:
    attempt = make.attempt(make.run(stage="serve"))
    checkpoint = make.checkpoint(make.attempt(make.run(attempt.run.project, stage="train")), step=400)
    path = f"/api/runs/{attempt.run_id}/drafter"
    assert api.post(path, {"checkpoint": checkpoint.pk}).status_code == 200
    assert api.post(path, {"checkpoint": None}).status_code == 200
    assert [message.payload["drafter"] for message in ControlMessage.objects.all()] == [checkpoint.path, ""]
    assert api.post(path, {"checkpoint": 10**6}).status_code == 404
    assert api.post(f"/api/runs/{make.attempt().run_id}/drafter", {"checkpoint": None}).status_code == 409


@pytest.mark.parametrize(
    ("status", "verb"),
    [("running", "resume"), ("running", "settle"), ("finished", "stop"), ("finished", "pause"), ("lost", "unpause")],
)
def test_what_the_state_forbids_is_409_with_the_reason(api: Caller, status: str, verb: str) -> None:
    attempt = make.attempt(status=AttemptStatus(status))
    answer = api.post(f"/api/runs/{attempt.run_id}/{verb}")
    assert answer.status_code == 409
    assert f"is {status}" in answer.json()["detail"]


def test_clone_is_a_new_run_with_changes(api: Caller, project: Project, launched: list[int]) -> None:
    original = api.post("/api/runs", {"project": "k2", "concurrency": 4}).json()
    clone = api.post(f"/api/runs/{original['id']}/clone", {"concurrency": 16, "retry_errors": True})
    assert (clone.status_code, clone.json()["cloned_from"]) == (201, original["id"])
    configs = [api.get(f"/api/runs/{run['id']}").json()["config"] for run in (original, clone.json())]
    assert [(config["concurrency"], config["retry_errors"]) for config in configs] == [(4, False), (16, True)]
    assert launched == [original["id"], clone.json()["id"]]


def test_new_run_retries_errors_when_told(api: Caller, project: Project, launched: list[int]) -> None:
    made = api.post("/api/runs", {"project": "k2", "retry_errors": True})
    assert (made.status_code, Run.objects.get().config["retry_errors"]) == (201, True)


def test_broker_that_is_away_delays_a_run_and_loses_nothing(api: Caller, project: Project) -> None:
    """No Valkey runs in this test, so that sending fails."""
    answer = api.post("/api/runs", {"project": "k2"})
    assert (answer.status_code, Run.objects.get().status) == (201, "queued")
