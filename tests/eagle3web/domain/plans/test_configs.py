"""Configs are checked and spelled out."""

import pytest

from eagle3web.domain import plans
from pipeline.errors import ConfigError


def test_validate_spells_out_defaults() -> None:
    assert plans.validate("generate", {"project": "p", "responses": "r", "tokenizer": "t"})["concurrency"] == 8


def test_validate_keeps_what_it_validated() -> None:
    config = plans.validate("extract", {"project": "p", "responses": "r", "hidden": "h", "target": "t",
                                        "datasets": [{"dataset": "B1", "revision": "a"}]})  # fmt: skip
    assert plans.validate("extract", config) == config


def test_validate_names_stages_that_can_be_run() -> None:
    with pytest.raises(ConfigError, match="bake cannot be run; known are generate, extract, train, benchmark, serve"):
        plans.validate("bake", {})
