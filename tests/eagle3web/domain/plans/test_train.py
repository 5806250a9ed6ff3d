"""Configs of training."""

from pathlib import Path

import pytest

from eagle3web.domain import plans
from eagle3web.domain.presets import PRESETS
from eagle3web.models import Run
from pipeline.config import from_mapping
from pipeline.errors import ConfigError
from pipeline.training.config import TrainConfig
from tests.support.pipelines import chain_of, ready_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain(home: Path) -> list[Run]:
    return chain_of(ready_project())


def test_train_config_takes_stored_states_of_several_runs(chain: list[Run], home: Path) -> None:
    extract = chain[1]
    again = Run.objects.create(project=extract.project, stage="extract", config=extract.config, config_hash=extract.config_hash)
    found = plans.train_config([extract, again])
    folders = [str(home / "projects/kimi/hidden" / str(run.pk)) for run in (extract, again)]
    assert (found["source"], found["hidden"], found["responses"]) == ("stored", folders, "")


def test_train_config_online_takes_the_answers_themselves(chain: list[Run], home: Path) -> None:
    found = plans.train_config([chain[0]])
    assert (found["source"], found["hidden"]) == ("online", [])
    assert found["responses"] == str(home / "projects/kimi/responses")
    assert [row["dataset"] for row in found["datasets"]] == ["B1"]


@pytest.mark.parametrize("preset", PRESETS)
def test_train_config_of_each_preset_makes_sense(chain: list[Run], preset: str) -> None:
    found = plans.train_config([chain[1]], **PRESETS[preset].with_changes(steps=3, learning_rate=2e-3, max_minutes=1.5))
    read = from_mapping(TrainConfig, found)
    assert (read.objective.steps, read.optimizer.learning_rate, read.max_minutes) == (3, 2e-3, 1.5)
    assert read.draft_vocab_size == PRESETS[preset].config["draft_vocab_size"]


def test_train_config_refuses_what_is_no_source(chain: list[Run]) -> None:
    with pytest.raises(ConfigError, match="nothing was chosen"):
        plans.train_config([])
    with pytest.raises(ConfigError, match="train on extraction runs, or online on one generation run"):
        plans.train_config([chain[0], chain[1]])


def test_training_has_a_process_on_each_of_several_devices(chain: list[Run]) -> None:
    one, two = (plans.train_config([chain[1]], devices=devices) for devices in (["cuda:3"], ["cuda:0", "cuda:1"]))
    assert (one["device"], one["devices"]) == ("cuda:3", [])
    assert two["devices"] == ["cuda:0", "cuda:1"]


def test_train_config_knows_how_many_tokens_the_target_has(chain: list[Run], tmp_path: Path) -> None:
    project = chain[1].project
    project.target_path = str(tmp_path)
    (tmp_path / "config.json").write_text('{"vocab_size": 49152}')
    with pytest.raises(ConfigError, match="draft_vocab_size is 50,000; the target has 49,152 tokens"):
        plans.train_config([chain[1]], draft_vocab_size=50_000)
    assert plans.train_config([chain[1]], draft_vocab_size=49_152)["draft_vocab_size"] == 49_152
