"""Pipelines over the API."""

import pytest

from eagle3web import tasks
from eagle3web.enums import Role
from eagle3web.models import Project, Run
from tests.support import factories as make
from tests.support.api import Caller, caller
from tests.support.pipelines import ready_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Caller:
    return caller("ada", Role.OPERATOR)


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    sent: list[int] = []
    monkeypatch.setattr(tasks, "launch_soon", lambda run: sent.append(run.pk))
    return sent


@pytest.fixture
def project() -> Project:
    make.engine(name="e1")
    return ready_project()


def test_pipeline_queues_all_runs_and_sends_the_first(api: Caller, project: Project, launched: list[int]) -> None:
    answer = api.post("/api/pipelines", {"project": "kimi", "title": "Night", "preset": "cpu", "train": {"epochs": 2}})
    assert answer.status_code == 201, answer.content
    made = answer.json()["runs"]
    assert [run["stage"] for run in made] == ["generate", "extract", "train", "benchmark"]
    assert [run["shown"]["words"] for run in made[1:]] == [f"waits for r{run['id']} {run['stage']}" for run in made[:-1]]
    assert launched == [made[0]["id"]]
    assert Run.objects.get(stage="train").config["epochs"] == 2


def test_pipeline_retries_errors_when_told(api: Caller, project: Project, launched: list[int]) -> None:
    for body in ({}, {"retry_errors": True}):
        assert api.post("/api/pipelines", {"project": "kimi"} | body).status_code == 201
    assert [run.config["retry_errors"] for run in Run.objects.filter(stage="generate").order_by("pk")] == [False, True]


def test_pipeline_online_trains_on_the_answers(api: Caller, project: Project, launched: list[int]) -> None:
    made = api.post("/api/pipelines", {"project": "kimi", "features": "online", "devices": ["cuda:1"]}).json()["runs"]
    assert [(run["stage"], run["devices"]) for run in made] == [
        ("generate", []), ("train", ["cuda:1"]), ("benchmark", ["cuda:1"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"features": "dreamt"}, "features"),
        ({"features": "captured"}, "e1 keeps no hidden states"),
        ({"train": {"epoch": 1}}, "unknown key epoch"),
        ({"benchmark": {"repetitions": 0}}, "repetitions"),
        ({"train": {"target": "/etc/passwd", "hidden": ["/etc"]}}, "hidden, target: set by the system"),
        ({"benchmark": {"shapes": [{"steps": -1}]}}, "steps and topk are at least 1"),
        ({"benchmark": {"concurrency": [1, 1]}}, "named twice"),
        ({"train": {"objective": {"one_step_share": 5}}}, "one_step_share must lie between 0 and 1"),
        ({"title": "\ud800"}, "surrogate"),
        ({"engines": ["ghost"]}, "ghost"),
        ({"concurrency": 0}, "concurrency"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_pipeline_that_makes_no_sense_starts_nothing(
    api: Caller, project: Project, launched: list[int], changes: dict[str, object], word: str
) -> None:
    answer = api.post("/api/pipelines", {"project": "kimi"} | changes)
    assert answer.status_code == 422, answer.content
    assert word in answer.json()["detail"]
    assert (Run.objects.count(), launched) == (0, [])
