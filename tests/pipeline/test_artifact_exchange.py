"""A stage on a host of its own disk: what it needs comes by the store, and what it makes goes there."""

import shutil
from pathlib import Path

import pytest

from pipeline.artifact_exchange import published, results
from pipeline.artifact_store import ArtifactStore
from tests.support.generation import GenerateRun, StageProcess, generate_run
from tests.support.servers import stub_engine
from tests.support.stub_engine import Behaviour


def test_every_path_below_home_is_looked_for_with_what_it_lies_in(tmp_path: Path) -> None:
    home, store = tmp_path / "home", ArtifactStore(str(tmp_path / "store"))
    for name in ("datasets/B1/r1", "projects/kimi/checkpoints/13"):
        (home / name).mkdir(parents=True)
        store.publish(home / name, name, host="a")
    config = {
        "datasets": [{"prompts": str(home / "datasets/B1/r1/prompts.jsonl")}],
        "drafter": str(home / "projects/kimi/checkpoints/13/step-000100"),
        "output": str(home / "projects/kimi/benchmarks/14"),
        "target": "/models/kimi",
    }
    assert published(store, home, config) == ["datasets/B1/r1", "projects/kimi/checkpoints/13"]
    assert results("benchmark", home, config) == [home / "projects/kimi/benchmarks/14"]
    assert results("serve", home, config) == []


@pytest.mark.slow
def test_generation_goes_on_on_another_host_without_a_shared_disk(tmp_path: Path) -> None:
    home, store = tmp_path / "home", str(tmp_path / "store")

    def on(host: str, run: GenerateRun, *, budget: int) -> StageProcess:
        run.config["datasets"][0]["budget"] = budget
        stage = run.start(env={"EAGLE3_ARTIFACTS": store, "EAGLE3_HOME": str(home), "EAGLE3_HOST": host})
        assert stage.wait(60) == 0, stage.log[-3000:]
        assert stage.folder.published.exists()
        return stage

    with stub_engine(Behaviour(mean_tokens=20)) as (_, url), generate_run(home, url) as run:
        run.responses = home / "projects" / "test" / "responses"
        run.config["responses"] = str(run.responses)
        run.add("B1", 200)
        prompts = home / "datasets" / "B1" / "r1" / "prompts.jsonl"
        prompts.parent.mkdir(parents=True)
        shutil.move(run.config["datasets"][0]["prompts"], prompts)
        run.config["datasets"][0]["prompts"] = str(prompts)
        ArtifactStore(store).publish(prompts.parent, "datasets/B1/r1", host="web")

        on("gpu-01", run, budget=400)
        first = run.recount()["B1"]
        for folder in ("datasets", "projects"):
            shutil.rmtree(home / folder)
        on("gpu-02", run, budget=1200)
        both = run.recount()["B1"]
        assert (both.duplicates, both.unreadable) == (0, 0)
        assert 0 < first.answers < both.answers
        assert first.tokens < 1200 <= both.tokens

        # What a host wrote and did not publish is still there when it goes on.
        run.config["datasets"][0]["budget"] = 1600
        assert run.start().wait(60) == 0
        both = run.recount()["B1"]
        on("gpu-02", run, budget=1600)
        assert run.recount()["B1"] == both

        # The store fails: the stage says so, and what it made stays here.
        (tmp_path / "store" / "trees" / "projects" / "test" / "responses.json").write_text("no tree")
        run.config["datasets"][0]["budget"] = 2000
        stage = run.start(env={"EAGLE3_ARTIFACTS": store, "EAGLE3_HOME": str(home), "EAGLE3_HOST": "gpu-02"})
        assert stage.wait(60) == 1
        assert not stage.folder.published.exists()
        assert "what hosts hand to one another failed" in stage.log
        assert run.recount()["B1"] == both
