"""Runs of the later stages over the API: from what other runs make."""

import pytest

from eagle3web import tasks
from eagle3web.api.new_runs import training_config
from eagle3web.enums import Role
from eagle3web.models import Project, Run
from tests.support import factories as make
from tests.support.api import Caller, caller
from tests.support.pipelines import chain_of, ready_project, saved

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Caller:
    return caller("ada", Role.OPERATOR)


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "launch_soon", lambda run: None)


@pytest.fixture
def chain() -> list[Run]:
    return chain_of(ready_project())


def test_extraction_names_the_run_that_it_takes_from(api: Caller, chain: list[Run]) -> None:
    generate = chain[0]
    body = {"project": "kimi", "stage": "extract", "sources": [generate.pk], "config": {"storage_dtype": "float32"}}
    answer = api.post("/api/runs", body)
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert (made["stage"], made["status"], made["shown"]["words"]) == (
        "extract",
        "queued",
        f"waits for r{generate.pk} generate",
    )
    detail = api.get(f"/api/runs/{made['id']}").json()
    assert detail["inputs"] == [{"kind": "responses", "source": generate.pk, "ref": {"B1": "1" * 64}}]
    assert detail["config"]["storage_dtype"] == "float32"


def test_training_takes_a_preset_and_changes(api: Caller, chain: list[Run]) -> None:
    extract = chain[1]
    config = {"objective": {"steps": 2}, "draft_vocab_size": 100}
    body = {"project": "kimi", "stage": "train", "sources": [extract.pk], "preset": "cpu", "config": config}
    made = api.post("/api/runs", body | {"devices": ["cuda:0"]}).json()
    assert made["devices"] == ["cuda:0"]
    found = api.get(f"/api/runs/{made['id']}").json()["config"]
    assert (found["objective"]["steps"], found["objective"]["one_step_share"], found["draft_vocab_size"]) == (2, 0.3, 100)


def test_measurement_of_a_chosen_step(api: Caller, chain: list[Run]) -> None:
    train = chain[2]
    saved(train, 300)
    body = {"project": "kimi", "stage": "benchmark", "sources": [train.pk], "step": 300}
    made = api.post("/api/runs", body).json()
    assert made["shown"]["words"].startswith("no worker was heard of")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"stage": "extract", "sources": []}, "name one run in sources"),
        ({"stage": "extract", "sources": [999_999]}, "has no run 999999"),
        ({"stage": "extract", "concurrency": 4}, "a run of the stage extract takes no concurrency"),
        ({"stage": "train", "retry_errors": True}, "a run of the stage train takes no retry_errors"),
        ({"stage": "generate", "config": {}}, "a run of the stage generate takes no config, sources"),
        ({"stage": "train", "step": 3}, "a run of the stage train takes no step"),
        ({"stage": "train"}, "train on extraction runs, or online"),
        ({"stage": "benchmark"}, "is no training run"),
        ({"stage": "extract", "config": {"batch": 1}}, "unknown key batch"),
        ({"stage": "extract", "config": {"device": "a\x00"}}, "NUL"),
        ({"stage": "extract", "config": {"hidden": "/etc"}}, "hidden: set by the system"),
        ({"stage": "extract", "devices": ["gpu"]}, "devices.0"),
    ],
)
def test_run_that_makes_no_sense_names_why(api: Caller, chain: list[Run], changes: dict[str, object], word: str) -> None:
    sources = [chain[0].pk, chain[1].pk] if changes["stage"] == "train" else [chain[0].pk]
    answer = api.post("/api/runs", {"project": "kimi", "sources": sources} | changes)
    assert answer.status_code == 422, answer.content
    assert word in answer.json()["detail"]
    assert Run.objects.count() == 4


def test_runs_of_another_project_are_no_sources(api: Caller, chain: list[Run]) -> None:
    make.project(slug="other", target_path="/m")
    answer = api.post("/api/runs", {"project": "other", "stage": "extract", "sources": [chain[0].pk]})
    assert answer.status_code == 422
    assert f"has no run {chain[0].pk}" in answer.json()["detail"]


def test_training_config_merges_objects_key_by_key() -> None:
    found = training_config("cpu", {"optimizer": {"clip": 1.0}, "seed": 7})
    assert (found["optimizer"], found["seed"]) == ({"learning_rate": 1.5e-3, "clip": 1.0}, 7)
    assert training_config(None, {"seed": 7}) == {"seed": 7}


def test_project_tells_where_its_target_lies(api: Caller, chain: list[Run]) -> None:
    assert api.get("/api/projects/kimi").json()["target_path"] == Project.objects.get(slug="kimi").target_path


def test_server_drafts_with_the_checkpoint_of_a_run_or_with_none(api: Caller, chain: list[Run]) -> None:
    train = chain[2]
    saved(train, 100, best=True)
    saved(train, 200)
    body = {"project": "kimi", "stage": "serve", "config": {"port": 0, "max_queued": 8}}
    plain = api.post("/api/runs", body)
    best, chosen = (api.post("/api/runs", body | {"sources": [train.pk]} | more) for more in ({}, {"step": 200}))
    configs = [api.get(f"/api/runs/{answer.json()['id']}").json()["config"] for answer in (plain, best, chosen)]
    assert [config["drafter"] for config in configs] == ["", "/checkpoints/step-000100", "/checkpoints/step-000200"]
    assert [config["speculation"] for config in configs] == ["none", "drafter", "drafter"]
    assert configs[0]["max_queued"] == 8


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"config": {"python": "/bin/sh"}}, "python: set by the system"),
        ({"config": {"extra": {"trust-remote-code": True}}}, "--trust-remote-code is not among"),
        ({"config": {"extra": {"page-size": "x; id"}}}, "needs a whole number"),
        ({"config": {"ports": 1}}, "unknown key ports"),
        ({"sources": ["t", "t"]}, "a server drafts with a checkpoint of one run"),
        ({"sources": ["t"], "step": 7}, "has no checkpoint of step 7"),
    ],
)
def test_server_that_makes_no_sense_is_refused(api: Caller, chain: list[Run], changes: dict[str, object], word: str) -> None:
    if "sources" in changes:
        changes = changes | {"sources": [chain[2].pk] * len(changes["sources"])}  # type: ignore[arg-type]
    answer = api.post("/api/runs", {"project": "kimi", "stage": "serve"} | changes)
    assert (answer.status_code // 100, word in answer.json()["detail"]) == (4, True), answer.content
    assert not Run.objects.filter(stage="serve").exists()
