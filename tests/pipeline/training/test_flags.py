import argparse
from pathlib import Path

import pytest

from pipeline.artifacts import read_json
from pipeline.config import from_mapping
from pipeline.errors import ConfigError
from pipeline.training.config import LossConfig, TrainConfig
from pipeline.training.flags import add_arguments, config_of, make_attempt


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(arguments)


def test_flags_without_extras_are_the_configs_defaults(tmp_path: Path) -> None:
    config = config_of(parsed("--hidden", "h", "--target", "t", "--out", str(tmp_path)))
    expected = TrainConfig(
        project=tmp_path.name, target="t", checkpoints=str(tmp_path / "checkpoints"), hidden=("h",), draft_vocab_size=32000
    )
    assert config == expected


def test_flags_reach_their_settings() -> None:
    arguments = ["--ttt-steps", "3", "--decay", "0.9", "--one-step-share", "0.25", "--lr", "0.002", "--betas", "0.8", "0.9"]
    config = config_of(parsed("--hidden", "a", "b", "--target", "t", *arguments, "--save-minutes", "5", "--init", "random"))
    assert config.hidden == ("a", "b")
    assert config.objective == LossConfig(steps=3, decay=0.9, one_step_share=0.25)
    assert (config.optimizer.learning_rate, config.optimizer.beta1, config.optimizer.beta2) == (0.002, 0.8, 0.9)
    assert (config.saving.every_minutes, config.initialisation) == (5.0, "random")


def test_missing_flags_are_named() -> None:
    with pytest.raises(ConfigError, match="a run without a RUN_FOLDER needs --hidden, --target"):
        config_of(parsed())


def test_impossible_flags_are_refused() -> None:
    with pytest.raises(ConfigError, match="must be 1 or more"):
        config_of(parsed("--hidden", "h", "--target", "t", "--ttt-steps", "0"))


def test_every_attempt_has_a_folder_of_its_own(tmp_path: Path) -> None:
    arguments = parsed("--hidden", "h", "--target", "t", "--out", str(tmp_path))
    folders = [make_attempt(arguments) for _ in range(2)]
    assert [folder.path.name for folder in folders] == ["1", "2"]
    assert from_mapping(TrainConfig, read_json(folders[1].config)) == config_of(arguments)
