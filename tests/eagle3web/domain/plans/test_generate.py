"""Configs of generation, and what of them follows the moment."""

from pathlib import Path

import pytest

from eagle3web.domain import controls, plans
from eagle3web.enums import RevisionState
from eagle3web.models import Engine, Project, Run
from pipeline.artifacts import config_hash
from pipeline.config import GenerateConfig, from_mapping
from pipeline.control import SetConcurrency
from pipeline.errors import ConfigError
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Two datasets with budgets, the second one switched off."""
    found = factories.project(slug="kimi", sampling={"temperature": 0.6, "max_new_tokens": 900})
    for slug, fields in (("B1", {"tokens": 1000, "sampling": {"top_p": 0.9}}), ("B2", {"enabled": False})):
        dataset = factories.dataset(slug=slug)
        factories.revision(dataset, revision="a" * 64, accepted=10)
        factories.budget(found, dataset, **fields)
    return found


def run_of(project: Project, **changes: object) -> Run:
    chosen = plans.generate_config(project, engines=[factories.engine(name="e1")], concurrency=4, order="sequential")
    return factories.run(project, config=chosen | changes)


def test_generate_config_has_the_budgets_in_order(project: Project, home: Path) -> None:
    engine = factories.engine(name="e1", url="http://127.0.0.1:30001")
    config = plans.generate_config(project, engines=[engine], concurrency=4, order="interleaved")
    read = from_mapping(GenerateConfig, config)
    assert [plan.slug for plan in read.datasets] == ["B1", "B2"]
    first, second = read.datasets
    assert first.prompts == str(home / "datasets" / "B1" / ("a" * 64) / "prompts.jsonl")
    assert (first.budget, first.budget_version, first.prompts_count, first.enabled) == (1000, 1, 10, True)
    assert (first.sampling.temperature, first.sampling.top_p, first.sampling.max_new_tokens) == (0.6, 0.9, 900)
    assert (second.enabled, second.sampling.top_p) == (False, 1.0)
    assert read.responses == str(home / "projects" / "kimi" / "responses")
    assert (read.engines[0].url, read.concurrency, read.order) == ("http://127.0.0.1:30001", 4, "interleaved")


def test_generate_config_survives_the_database(project: Project) -> None:
    run = run_of(project)
    before = config_hash(run.config)
    run.refresh_from_db()
    assert config_hash(run.config) == before


def test_generate_config_takes_the_latest_ready_revision(project: Project) -> None:
    dataset = project.budgets.get(dataset__slug="B1").dataset
    factories.revision(dataset, revision="b" * 64)
    factories.revision(dataset, revision="", state=RevisionState.IMPORTING)
    config = plans.generate_config(project, engines=[factories.engine()], concurrency=1, order="sequential")
    assert config["datasets"][0]["revision"] == "b" * 64


def test_generate_config_of_chosen_budgets_only(project: Project) -> None:
    chosen = project.budgets.filter(dataset__slug="B2")
    config = plans.generate_config(project, engines=[factories.engine()], concurrency=1, order="sequential", budgets=chosen)
    assert [plan["slug"] for plan in config["datasets"]] == ["B2"]


def test_generate_config_needs_engines_budgets_and_prompts(project: Project) -> None:
    with pytest.raises(ConfigError, match="no engine was chosen"):
        plans.generate_config(project, engines=[], concurrency=1, order="sequential")
    with pytest.raises(ConfigError, match="has no budget yet"):
        plans.generate_config(factories.project(), engines=[factories.engine()], concurrency=1, order="sequential")
    factories.budget(project, factories.dataset(slug="B3"))
    with pytest.raises(ConfigError, match="B3: no revision of it is ready"):
        plans.generate_config(project, engines=[factories.engine()], concurrency=1, order="sequential")


def test_generate_config_names_a_bad_sampling_key(project: Project) -> None:
    project.budgets.filter(dataset__slug="B1").update(sampling={"temprature": 1})
    with pytest.raises(ConfigError, match="sampling of B1: unknown key temprature"):
        run_of(project)


def test_attempt_config_follows_budgets_but_not_sampling(project: Project) -> None:
    run = run_of(project)
    project.budgets.filter(dataset__slug="B1").update(tokens=7, version=3, sampling={"temperature": 1.0})
    config = plans.attempt_config(run)
    assert (config["datasets"][0]["budget"], config["datasets"][0]["budget_version"]) == (7, 3)
    assert config["datasets"][0]["sampling"] == run.config["datasets"][0]["sampling"]
    assert config["datasets"][1] == run.config["datasets"][1]


def test_attempt_config_keeps_what_has_no_row_any_more(project: Project) -> None:
    run = run_of(project)
    project.budgets.all().delete()
    assert plans.attempt_config(run) == run.config


def test_attempt_config_follows_engines_and_the_concurrency_last_asked_for(project: Project) -> None:
    run = run_of(project)
    controls.leave(factories.attempt(run), SetConcurrency(n=32), user=None)
    engine = run.config["engines"][0]
    factories.engine(name="other")
    Engine.objects.filter(name="e1").update(url="http://gpu-9:30000")
    config = plans.attempt_config(run)
    assert config["concurrency"] == 32
    assert config["engines"] == [engine | {"url": "http://gpu-9:30000"}]
