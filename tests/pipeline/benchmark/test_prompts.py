from pathlib import Path

import pytest

from pipeline.benchmark.config import PromptSet
from pipeline.benchmark.prompts import Prompt, choose, prompts_hash, text_of
from pipeline.datasets.conversation import new_conversation
from pipeline.held_out import is_held_out
from pipeline.tokens import PromptTokenizer
from tests.support.generation import made_up
from tests.support.models import tiny_tokenizer


@pytest.fixture
def tokenizer(tmp_path: Path) -> PromptTokenizer:
    return PromptTokenizer.load(tiny_tokenizer(tmp_path / "tokenizer"))


@pytest.fixture
def plan(tmp_path: Path) -> PromptSet:
    (tmp_path / "p.jsonl").write_bytes(b"".join(row.to_line() for row in made_up("B1", 200)))
    return PromptSet(dataset="B1", revision="r", prompts=str(tmp_path / "p.jsonl"))


def chosen(
    plan: PromptSet,
    tokenizer: PromptTokenizer,
    warnings: list[str] | None = None,
    *,
    share: float = 0.3,
    count: int = 5,
    seed: int = 0,
    longest: int | None = None,
) -> list[Prompt]:
    warn = (warnings if warnings is not None else []).append
    return choose(plan, tokenizer, share=share, count=count, seed=seed, longest=longest, warn=warn)


def test_only_prompts_that_training_kept_aside_are_chosen(plan: PromptSet, tokenizer: PromptTokenizer) -> None:
    found = chosen(plan, tokenizer, count=20)
    assert len(found) == 20
    assert all(is_held_out("B1", prompt.key, share=0.3) for prompt in found)
    assert all(prompt.ids and prompt.text.startswith("user: question ") for prompt in found)


def test_choice_hangs_on_the_seed_alone(plan: PromptSet, tokenizer: PromptTokenizer) -> None:
    lines = Path(plan.prompts).read_bytes().splitlines(keepends=True)
    first = chosen(plan, tokenizer)
    Path(plan.prompts).write_bytes(b"".join(reversed(lines)))
    assert chosen(plan, tokenizer) == first
    assert prompts_hash(chosen(plan, tokenizer)) == prompts_hash(first)
    assert chosen(plan, tokenizer, seed=1) != first
    assert prompts_hash(chosen(plan, tokenizer, seed=1)) != prompts_hash(first)


def test_too_few_prompts_are_told_with_the_reason(plan: PromptSet, tokenizer: PromptTokenizer) -> None:
    warnings: list[str] = []
    assert chosen(plan, tokenizer, warnings, share=1.0, count=60, longest=1) == []
    assert warnings == [
        "0 held-out prompts are measured, not 60: there are no more; 200 more are too long or refused by the chat template"
    ]


def test_broken_lines_are_passed_over_and_named(plan: PromptSet, tokenizer: PromptTokenizer) -> None:
    path = Path(plan.prompts)
    path.write_bytes(b"nonsense\n" + path.read_bytes())
    warnings: list[str] = []
    assert len(chosen(plan, tokenizer, warnings)) == 5
    assert warnings[0].startswith(f"{path}, line 1: not a normalised prompt")


def test_prompt_of_token_ids_says_how_many() -> None:
    assert text_of(new_conversation(label="", input_ids=(1, 2, 3))) == "3 token ids"
