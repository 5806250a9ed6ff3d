"""The config of a server, and of its next attempt."""

from pathlib import Path

import pytest

from eagle3web.domain import chains, controls, plans
from eagle3web.models import Checkpoint, Run, RunInput
from pipeline.control import SwapDrafter
from pipeline.errors import ConfigError
from tests.support import factories
from tests.support.pipelines import ready_project

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def checkpoint() -> Checkpoint:
    project = ready_project()
    return factories.checkpoint(factories.attempt(factories.run(project, stage="train")), step=400, path="/ckpt/step-400")


def served(checkpoint: Checkpoint, **config: object) -> Run:
    return chains.start_serve(checkpoint.project, user=None, config=config, checkpoint=checkpoint, devices=["cuda:0"])


def test_server_of_a_checkpoint_drafts_with_it_and_says_where_it_is_from(checkpoint: Checkpoint) -> None:
    run = served(checkpoint, port=30001, max_queued=64)
    assert (run.config["target"], run.config["drafter"], run.config["speculation"]) == (
        "/models/smollm2",
        "/ckpt/step-400",
        "drafter",
    )
    assert (run.config["port"], run.config["max_queued"]) == (30001, 64)
    taken = RunInput.objects.get(run=run)
    assert (taken.source, taken.kind, taken.ref) == (checkpoint.run, "checkpoint", {"step": 400})


def test_attempt_gets_its_devices_and_an_engine_of_the_runs_name(checkpoint: Checkpoint) -> None:
    run = served(checkpoint)
    found = plans.attempt_config(run, devices=["cuda:3"])
    assert (found["engine"], found["devices"], found["device"]) == (f"r{run.pk}", ["cuda:3"], "auto")
    assert plans.attempt_config(served(checkpoint, engine="main"))["engine"] == "main"


def test_attempt_drafts_with_what_somebody_last_asked_for(checkpoint: Checkpoint) -> None:
    run = served(checkpoint)
    attempt = factories.attempt(run)
    controls.leave(attempt, SwapDrafter(drafter="/ckpt/step-500", name="r4 step 500"), user=None)
    found = plans.attempt_config(run)
    assert (found["drafter"], found["drafter_name"], found["speculation"]) == ("/ckpt/step-500", "r4 step 500", "drafter")
    controls.leave(attempt, SwapDrafter(drafter="", name=""), user=None)
    found = plans.attempt_config(run)
    assert (found["drafter"], found["speculation"]) == ("", "none")


def test_server_for_extraction_leaves_states_in_a_folder_of_its_run(home: Path, checkpoint: Checkpoint) -> None:
    run = chains.start_serve(checkpoint.project, user=None, config={"states": "/etc"})
    assert run.config["states"] == "for extraction"
    assert plans.attempt_config(run)["states"] == str(home / f"projects/{run.project.slug}/states/{run.pk}")
    with pytest.raises(ConfigError, match="does not draft"):
        served(checkpoint, states="yes")


def test_project_decides_whether_the_models_code_may_run(checkpoint: Checkpoint) -> None:
    assert served(checkpoint, trust_remote_code=True).config["trust_remote_code"] is False


@pytest.mark.parametrize("name", ["python", "drafter", "drafter_name"])
def test_what_the_system_decides_is_not_chosen(checkpoint: Checkpoint, name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}: set by the system"):
        served(checkpoint, **{name: "x"})


def test_project_without_a_target_serves_nothing() -> None:
    with pytest.raises(ConfigError, match="does not say where its target model lies"):
        plans.serve_config(factories.project(target_path=""))
