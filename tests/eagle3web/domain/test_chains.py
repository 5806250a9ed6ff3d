"""Runs that follow one another."""

from pathlib import Path

import pytest

from eagle3web.domain import chains
from eagle3web.domain.chains import Chain
from eagle3web.domain.storage import NoRoomError, storage_forecast
from eagle3web.models import Project, Run, RunInput
from pipeline.errors import ConfigError
from tests.support import factories
from tests.support.pipelines import chain_of, ready_project, saved

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return ready_project()


def links(run: Run) -> list[tuple[str, int | None, dict[str, object]]]:
    return [(row.kind, row.source_id, row.ref) for row in RunInput.objects.filter(run=run)]


def test_chain_is_queued_as_linked_runs(project: Project) -> None:
    generate, extract, train, benchmark = chain_of(project)
    assert [run.stage for run in (generate, extract, train, benchmark)] == ["generate", "extract", "train", "benchmark"]
    b1 = {"B1": "1" * 64}
    assert links(generate) == [("prompts", None, b1 | {"B2": "2" * 64})]
    assert links(extract) == [("responses", generate.pk, b1)]
    assert links(train) == [("hidden", extract.pk, b1)]
    assert links(benchmark) == [("checkpoint", train.pk, {}), ("prompts", None, b1)]


def test_online_chain_has_no_extraction(project: Project) -> None:
    generate, train, _benchmark = chain_of(project, features="online")
    assert (train.config["source"], train.config["hidden"]) == ("online", [])
    assert links(train) == [("responses", generate.pk, {"B1": "1" * 64})]


def test_captured_chain_trains_on_what_the_engines_keep(project: Project) -> None:
    engine = factories.engine(info={"capture": "/hidden/captured"})
    chain = Chain(engines=[engine], features="captured")
    generate, train, _benchmark = chains.start_chain(project, chain, user=None)
    assert (train.config["source"], train.config["hidden"]) == ("stored", ["/hidden/captured"])
    assert [row["dataset"] for row in train.config["datasets"]] == ["B1"]
    assert links(train) == [("hidden", generate.pk, {"B1": "1" * 64})]


def test_captured_chain_needs_engines_that_keep_states(project: Project) -> None:
    chain = Chain(engines=[factories.engine(name="plain")], features="captured")
    with pytest.raises(ConfigError, match="plain keeps no hidden states while it generates"):
        chains.start_chain(project, chain, user=None)
    assert not Run.objects.exists()


def test_chain_holds_its_devices_from_the_extraction_on(project: Project) -> None:
    made = chain_of(project, devices=["cuda:1"])
    assert [run.devices for run in made] == [[], ["cuda:1"], ["cuda:1"], ["cuda:1"]]
    assert [run.config.get("device") for run in made] == [None, "cuda:1", "cuda:1", "cuda:1"]


def test_chain_of_which_one_stage_makes_no_sense_is_not_started_at_all(project: Project) -> None:
    chain = Chain(engines=[factories.engine()], benchmark={"repetitions": 0})
    with pytest.raises(ConfigError, match="repetitions"):
        chains.start_chain(project, chain, user=None)
    assert not Run.objects.exists()


def test_benchmark_of_a_chosen_step_names_its_folder(project: Project) -> None:
    train = chain_of(project)[2]
    saved(train, 300)
    run = chains.start_benchmark(train, user=None, config={}, step=300)
    assert (run.config["drafter"], run.config["drafter_name"]) == ("/checkpoints/step-000300", f"r{train.pk} step 300")
    with pytest.raises(ConfigError, match="no checkpoint of step 7"):
        chains.start_benchmark(train, user=None, config={}, step=7)


def test_shares_that_lie_on_one_host_need_room_for_the_whole(home: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 576}')
    project = ready_project(target_path=str(tmp_path))
    generate = chain_of(project)[0]
    host = factories.host(name="gpu-1", sample={"disk_free": 10**15})
    needed = storage_forecast(project, host="gpu-1").bytes
    assert needed is not None
    host.sample = {"disk_free": needed // 2}
    host.save()
    with pytest.raises(NoRoomError):
        chains.start_extracts(generate, parts=4, user=None, config={}, host="gpu-1")
    assert not project.runs.filter(config__parts=4).exists()
