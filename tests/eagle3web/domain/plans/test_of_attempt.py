"""What is known only when an attempt starts."""

import re
from pathlib import Path

import pytest
from pytest_django import Settings

from eagle3web.domain import plans
from eagle3web.models import Run
from pipeline.errors import ConfigError
from tests.support.pipelines import chain_of, ready_project, saved

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain(home: Path) -> list[Run]:
    return chain_of(ready_project())


def test_folders_carry_the_number_of_the_run(chain: list[Run], home: Path) -> None:
    _generate, extract, train, _benchmark = chain
    hidden, checkpoints = home / "projects/kimi/hidden" / str(extract.pk), home / "projects/kimi/checkpoints" / str(train.pk)
    assert plans.attempt_config(extract) == extract.config | {"hidden": str(hidden)}
    assert plans.attempt_config(train) == train.config | {"checkpoints": str(checkpoints)}
    assert train.config["hidden"] == [str(hidden)]


def test_answers_are_those_of_this_home_wherever_the_run_was_made(chain: list[Run], home: Path) -> None:
    generate, extract = chain[:2]
    for run in (generate, extract):
        run.config["responses"] = "/elsewhere/projects/kimi/responses"
        assert plans.attempt_config(run)["responses"] == str(home / "projects/kimi/responses")


def test_benchmark_measures_the_best_checkpoint_of_the_run_it_waited_for(chain: list[Run], home: Path) -> None:
    train, benchmark = chain[2:]
    saved(train, 100, best=True)
    saved(train, 200)
    found = plans.attempt_config(benchmark)
    assert (found["drafter"], found["drafter_name"]) == ("/checkpoints/step-000100", f"r{train.pk} step 100")
    assert found["output"] == str(home / "projects/kimi/benchmarks" / str(benchmark.pk))


def test_benchmark_measures_the_last_checkpoint_when_none_is_called_best(chain: list[Run]) -> None:
    train, benchmark = chain[2:]
    saved(train, 100)
    saved(train, 200)
    saved(train, 300, removed_at=train.created_at)
    assert plans.attempt_config(benchmark)["drafter"] == "/checkpoints/step-000200"


def test_benchmark_without_a_checkpoint_says_so(chain: list[Run]) -> None:
    train, benchmark = chain[2:]
    with pytest.raises(ConfigError, match=f"r{train.pk} train saved no checkpoint"):
        plans.attempt_config(benchmark)


def test_whether_a_targets_code_may_run_is_what_the_project_says_when_the_attempt_starts(chain: list[Run]) -> None:
    """Whatever the run's config says: whoever made it does not decide this, and a leave that is taken back is gone."""
    extract, train = chain[1:3]
    for run in (extract, train):
        run.config["trust_remote_code"], run.project.allow_remote_code = True, False
        assert plans.attempt_config(run)["trust_remote_code"] is False
        run.project.allow_remote_code = True
        assert plans.attempt_config(run)["trust_remote_code"] is True
        run.config["target"] = "/models/another"
        assert plans.attempt_config(run)["trust_remote_code"] is False, "the leave is for the target that the project names now"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://10.0.0.1:8500", "EAGLE3_ENGINE_HOSTS; 10.0.0.1:8500 is not one"),
        ("http://gpu-01:30000/v1/kv?raw", "without a password or a query"),
        ("http://169.254.169.254", "no engine is there"),
    ],
)
def test_engines_are_where_they_may_be_whoever_named_them(chain: list[Run], settings: Settings, url: str, words: str) -> None:
    settings.EAGLE3_ENGINE_HOSTS = ["gpu-01"]
    saved(chain[2], 100, best=True)
    benchmark = chain[3]
    benchmark.config["served"] = [{"mode": "plain", "engine": {"name": "x", "url": "http://gpu-01:30000"}}]
    assert plans.attempt_config(benchmark)["served"]
    benchmark.config["served"][0]["engine"]["url"] = url
    with pytest.raises(ConfigError, match=re.escape(words)):
        plans.attempt_config(benchmark)


def test_training_has_a_process_on_each_device_that_its_attempt_holds(chain: list[Run]) -> None:
    train = chain[2]
    train.devices = ["cuda:*", "cuda:*"]
    assert plans.attempt_config(train, devices=["cuda:1", "cuda:3"])["devices"] == ["cuda:1", "cuda:3"]
    assert plans.attempt_config(train, devices=["cuda:1"])["devices"] == []
