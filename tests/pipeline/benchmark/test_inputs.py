import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pipeline.artifacts import sha256_file
from pipeline.benchmark.config import BenchmarkConfig, PromptSet, ServedMode
from pipeline.benchmark.inputs import read_inputs
from pipeline.checkpoint import save_checkpoint
from pipeline.config import EngineRef, SamplingConfig
from pipeline.errors import DataError
from tests.support.generation import made_up
from tests.support.models import tiny_tokenizer
from tests.support.tiny_drafter import tiny

TARGET = {"hidden_size": 24, "vocab_size": 50, "max_position_embeddings": 512, "rope_theta": 10_000.0}
PLAIN = ServedMode(mode="plain", engine=EngineRef(name="e", url="http://127.0.0.1:9"))


@pytest.fixture
def config(tmp_path: Path) -> BenchmarkConfig:
    """A checkpoint beside its target, and two datasets of ten prompts."""
    save_checkpoint(tmp_path / "step-1", tiny(dtype=torch.float32).drafter, lineage={})
    target = tiny_tokenizer(tmp_path / "target")
    (target / "config.json").write_text(json.dumps(TARGET))
    # The tokenizer of this test has more tokens than the drafter's made-up target: what counts here is its config.
    prompts = []
    for dataset in ("B1", "B2"):
        (tmp_path / f"{dataset}.jsonl").write_bytes(b"".join(row.to_line() for row in made_up(dataset, 10)))
        prompts.append(PromptSet(dataset=dataset, revision="r", prompts=str(tmp_path / f"{dataset}.jsonl")))
    return BenchmarkConfig(
        project="p",
        output="o",
        target=str(target),
        drafter=str(tmp_path / "step-1"),
        drafter_name="r1 step 1",
        prompts=tuple(prompts),
        held_out_share=1.0,
        prompts_per_dataset=3,
        served=(PLAIN,),
    )


def edit_target(config: BenchmarkConfig, **changes: Any) -> None:
    (Path(config.target) / "config.json").write_text(json.dumps(TARGET | changes))


def ignore(_text: str) -> None:
    pass


def test_inputs_are_prompts_and_a_drafter_by_hash(config: BenchmarkConfig) -> None:
    edit_target(config, vocab_size=50)
    (Path(config.target) / "config.json").unlink()
    inputs = read_inputs(config, warn=ignore)
    assert {dataset: len(prompts) for dataset, prompts in inputs.prompts.items()} == {"B1": 3, "B2": 3}
    folder = Path(config.drafter)
    assert inputs.drafter == {
        "name": "r1 step 1",
        "path": str(folder),
        "sha256": sha256_file(folder / "model.safetensors"),
    }


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"hidden_size": 32}, "config.json: hidden_size is 24, the target's is 32"),
        ({"vocab_size": 400}, "config.json: vocab_size is 50, the target's is 400"),
    ],
)
def test_drafter_of_another_target_is_refused(config: BenchmarkConfig, changes: dict[str, int], fault: str) -> None:
    edit_target(config, **changes)
    with pytest.raises(DataError, match=f"step-1 is no drafter for .*target: {fault}$"):
        read_inputs(config, warn=ignore)


def test_truncated_drafter_is_refused(config: BenchmarkConfig) -> None:
    weights = Path(config.drafter) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"model\.safetensors: truncated"):
        read_inputs(config, warn=ignore)


def test_drafter_that_only_the_engines_have_is_their_own_affair(config: BenchmarkConfig) -> None:
    (Path(config.target) / "config.json").unlink()
    assert read_inputs(replace(config, drafter="/elsewhere"), warn=ignore).drafter == {}


def test_embedded_engines_need_a_target(config: BenchmarkConfig) -> None:
    (Path(config.target) / "config.json").unlink()
    with pytest.raises(DataError, match=r"no readable config\.json of a target model"):
        read_inputs(replace(config, served=()), warn=ignore)


def test_dataset_without_held_out_prompts_is_left_out_and_told(config: BenchmarkConfig) -> None:
    (Path(config.target) / "config.json").unlink()
    Path(config.prompts[1].prompts).write_bytes(b"")
    warnings: list[str] = []
    assert list(read_inputs(config, warn=warnings.append).prompts) == ["B1"]
    assert warnings == ["B2: 0 held-out prompts are measured, not 3: there are no more"]


def test_prompts_leave_room_for_their_answers(config: BenchmarkConfig) -> None:
    (Path(config.target) / "config.json").unlink()
    inputs = read_inputs(replace(config, sampling=SamplingConfig(max_new_tokens=64)), warn=ignore)
    assert inputs.prompts_within(None, answer=64, warn=ignore) == inputs.prompts
    longest = max(len(prompt.ids) for prompts in inputs.prompts.values() for prompt in prompts)
    assert inputs.prompts_within(longest + 64, answer=64, warn=ignore) == inputs.prompts
    warnings: list[str] = []
    with pytest.raises(DataError, match="no prompt fits into the engines' context of 65 tokens"):
        inputs.prompts_within(65, answer=64, warn=warnings.append)
    assert warnings[0] == "B1: 3 prompts are longer than the 1 tokens that the engines leave for one"
