"""Configs of extraction."""

from pathlib import Path

import pytest

from eagle3web.domain import chains, plans
from eagle3web.models import Project
from pipeline.config import SamplingConfig, from_mapping
from pipeline.errors import ConfigError
from pipeline.extraction.config import ExtractConfig
from pipeline.responses.record import sampling_name
from tests.support import factories
from tests.support.pipelines import chain_of, ready_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return ready_project(sampling={"temperature": 0.6})


def test_extract_config_takes_the_answers_that_the_run_asks_for(project: Project) -> None:
    generate = chain_of(project)[0]
    found = from_mapping(ExtractConfig, plans.extract_config(generate))
    asked = [(row.dataset, row.revision, row.sampling) for row in found.datasets]
    assert asked == [("B1", "1" * 64, sampling_name(SamplingConfig(temperature=0.6)))]
    assert (found.target, found.hidden, found.device) == ("/models/smollm2", "", "auto")


def test_extract_config_names_an_answer_by_its_template_too(project: Project) -> None:
    Project.objects.update(chat_template_kwargs={"enable_thinking": True})
    project.refresh_from_db()
    found = plans.extract_config(chain_of(project)[0])
    way = SamplingConfig(temperature=0.6)
    assert found["datasets"][0]["sampling"] == sampling_name(way, chat_template_kwargs={"enable_thinking": True})


def test_extract_config_spreads_the_target_over_several_devices(project: Project) -> None:
    assert plans.extract_config(chain_of(project)[0], devices=["cuda:0", "cuda:1"])["device"] == "map"


def test_extract_config_takes_what_was_chosen(project: Project) -> None:
    assert plans.extract_config(chain_of(project)[0], storage_dtype="float32")["storage_dtype"] == "float32"


def test_extract_config_names_a_server_whose_address_the_attempt_learns(project: Project, home: Path) -> None:
    generate = chain_of(project)[0]
    plain, server = (chains.start_serve(project, user=None, config={"states": states}) for states in ("", "yes"))
    for wrong in (plain.pk, generate.pk, 10**9, "x", "²"):
        with pytest.raises(ConfigError, match=f"server {wrong}: no serve run of this project that leaves hidden states"):
            plans.extract_config(generate, server=wrong)
    with pytest.raises(ConfigError, match=r"server 7777777777.*: no serve run"):
        plans.extract_config(generate, server="7" * 5000)
    with pytest.raises(ConfigError, match="states: set by the system"):
        plans.extract_config(generate, states="/etc")
    run = chains.start_extract(generate, user=None, config={"server": server.pk})
    assert run.config["server"] == f"r{server.pk}"
    with pytest.raises(ConfigError, match=f"r{server.pk} serve has no engine that is switched on"):
        plans.attempt_config(run)
    factories.engine(name=f"r{server.pk}", url="http://127.0.0.1:30001")
    found = plans.attempt_config(run)
    assert (found["server"], found["states"]) == ("http://127.0.0.1:30001", plans.attempt_config(server)["states"])


def test_extract_config_needs_a_target_and_a_dataset_that_is_on(project: Project) -> None:
    generate = chain_of(project)[0]
    generate.project.target_path = ""
    with pytest.raises(ConfigError, match="does not say where its target model lies"):
        plans.extract_config(generate)
    generate.config["datasets"] = generate.config["datasets"][1:]
    with pytest.raises(ConfigError, match="has no dataset that is switched on"):
        plans.extract_config(generate)
