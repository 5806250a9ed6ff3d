from math import nan
from typing import Any

import pytest

from pipeline.config import from_mapping
from pipeline.errors import ConfigError
from pipeline.training.config import TrainConfig

GOOD = {"project": "p", "target": "t", "checkpoints": "c", "hidden": ["h"]}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"objective": {"one_step_share": 5}}, "one_step_share must lie between 0 and 1, not 5"),
        ({"optimizer": {"beta1": 2, "beta2": 3}}, "beta1 and beta2 must lie from 0 to below 1, not 2.0 and 3.0"),
        ({"optimizer": {"learning_rate": nan}}, "learning_rate and clip must be finite numbers above 0"),
        ({"optimizer": {"warmup_share": 1.5}}, "warmup_share and final_share"),
        ({"hidden": []}, "needs `hidden`"),
        ({"source": "online"}, "online training needs `responses` and `datasets`"),
        ({"epochs": 0}, "must be 1 or more"),
    ],
)
def test_impossible_values_are_refused_before_anything_starts(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        from_mapping(TrainConfig, GOOD | changes)


def test_defaults_make_a_config() -> None:
    assert from_mapping(TrainConfig, GOOD).objective.steps == 7
