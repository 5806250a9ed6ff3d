from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from pipeline.training.config import CheckpointConfig, LossConfig
from pipeline.training.lineage import different_keys, git_sha, require_same_training
from tests.support.tiny_training import tiny_config, train


def test_differences_are_named_with_their_group() -> None:
    one = {"a": 1, "b": {"c": (1, 2), "d": 3}, "e": 1}
    assert different_keys(one, {"a": 1, "b": {"c": [1, 2], "d": 4}, "f": 1}) == ["b.d", "e", "f"]


def test_resuming_with_other_data_or_loss_is_refused(root: Path) -> None:
    config = tiny_config(root, max_steps=2)
    train(config, root / "attempt")
    folder = root / "checkpoints" / "step-000002"
    require_same_training(folder, replace(config, max_steps=9, device="auto", saving=CheckpointConfig(keep_last=9)))
    other = replace(config, seed=1, objective=LossConfig(steps=4), evaluation=replace(config.evaluation, held_out_share=0.5))
    with pytest.raises(ConfigError, match=r"another training: evaluation\.held_out_share, objective\.steps, seed differ"):
        require_same_training(folder, other)


def test_git_sha_is_a_hash_or_nothing() -> None:
    assert len(git_sha()) in (0, 40)
