"""A generation run under token budgets, with a real SGLang behind it."""

from pathlib import Path

import pytest

from pipeline.datasets.conversation import new_conversation
from tests.sglang.conftest import Served
from tests.support.generation import generate_run

pytestmark = pytest.mark.sglang
BUDGET = 300


def test_generation_meets_its_budgets_and_names_prompts_that_cannot_be_answered(plain: Served, tmp_path: Path) -> None:
    with generate_run(tmp_path / "run", plain.url, concurrency=12) as run:
        good = [new_conversation(label=f"p{n}", input_ids=(1, 5 + n, 7, 9)) for n in range(60)]
        too_long = new_conversation(label="too long", input_ids=tuple([5] * 300))
        run.add("B1", [too_long, *good], budget=BUDGET, max_new_tokens=24)
        run.add("B2", good, max_samples=5, max_new_tokens=24)
        stage = run.finish(180)
    finished = {line.payload["dataset"]: line.payload for line in stage.said("dataset_finished")}
    assert finished["B1"]["reason"] == "budget_met"
    assert BUDGET <= finished["B1"]["tokens"] <= BUDGET + 24
    assert (finished["B1"]["errors"], finished["B2"]["errors"]) == (1, 0)
    assert (finished["B2"]["reason"], finished["B2"]["done"]) == ("max_samples", 5)
    assert stage.said("engine_changed", state="busy"), "a queue of four is full with twelve requests at once"
    assert not stage.said("engine_changed", state="down")
