"""Configs of benchmarks."""

from pathlib import Path

import pytest

from eagle3web.domain import plans
from eagle3web.models import Run, TokenBudget
from pipeline.errors import ConfigError
from tests.support.pipelines import chain_of, ready_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def train(home: Path) -> Run:
    return chain_of(ready_project(), train={"evaluation": {"held_out_share": 0.1}})[2]


def test_benchmark_config_measures_held_out_prompts_of_the_project(train: Run, home: Path) -> None:
    found = plans.benchmark_config(train)
    prompts = str(home / "datasets" / "B1" / ("1" * 64) / "prompts.jsonl")
    assert found["prompts"] == [{"dataset": "B1", "revision": "1" * 64, "prompts": prompts}]
    assert (found["held_out_share"], found["target"]) == (0.1, "/models/smollm2")
    assert found["drafter"] == str(home / "projects/kimi/checkpoints" / str(train.pk))


def test_benchmark_config_takes_what_was_chosen(train: Run) -> None:
    shape = {"steps": 5, "topk": 2, "draft_tokens": 8, "confidence": 0.0}
    found = plans.benchmark_config(train, shapes=[shape], concurrency=[1, 4])
    assert (found["shapes"], found["concurrency"]) == ([shape], [1, 4])


def test_benchmark_config_needs_prompts(train: Run) -> None:
    TokenBudget.objects.update(enabled=False)
    with pytest.raises(ConfigError, match="there is nothing to measure"):
        plans.benchmark_config(train)
