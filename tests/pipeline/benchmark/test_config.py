from typing import Any

import pytest

from pipeline.benchmark.config import BenchmarkConfig
from pipeline.config import from_mapping, to_mapping
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError

PROMPTS = [{"dataset": "B1", "revision": "r", "prompts": "p.jsonl"}]
VALUES = {"project": "p", "output": "o", "target": "t", "drafter": "d", "prompts": PROMPTS}
ENGINE = {"name": "e", "url": "http://127.0.0.1:9"}


def test_config_survives_json() -> None:
    config = from_mapping(BenchmarkConfig, VALUES | {"shapes": [{"steps": 4, "topk": 2, "draft_tokens": 9}]})
    assert config.shapes == (DraftShape(steps=4, topk=2, draft_tokens=9),)
    assert from_mapping(BenchmarkConfig, to_mapping(config)) == config


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"prompts": []}, "there is nothing to measure"),
        ({"drafter": ""}, "name a checkpoint to measure, or engines that run already"),
        ({"served": [{"mode": "drafter", "engine": ENGINE}]}, "a speedup needs its baseline"),
        ({"served": [{"mode": "fast", "engine": ENGINE}]}, "'fast' is none of plain, lookup, drafter"),
        ({"concurrency": []}, "one number of requests at once"),
        ({"shapes": []}, "at least one shape of drafts"),
        ({"concurrency": [1, 0]}, "concurrency must be 1 or more"),
        ({"repetitions": 0}, "repetitions, prompts_per_dataset and concurrency must be 1 or more"),
        ({"warmup_prompts": -1}, "warmup_prompts 0 or more"),
        ({"prompts": PROMPTS * 2}, "named twice among the prompts: B1"),
        ({"speculative": True}, "unknown key speculative"),
    ],
)
def test_impossible_config_is_named(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        from_mapping(BenchmarkConfig, VALUES | changes)
