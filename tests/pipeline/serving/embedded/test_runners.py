"""Both runners against transformers' own greedy generation, on the same weights in float32."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from pipeline.errors import ConfigError
from pipeline.serving.embedded.cache import SlotCache
from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.llama import LlamaRunner
from pipeline.serving.embedded.runner import HiddenStates, Runner
from pipeline.serving.embedded.transformers_runner import TransformersRunner
from tests.support.tiny_model import CONTEXT, VOCAB_SIZE

NEW_TOKENS = 24
CASES = [("llama", LlamaRunner), ("llama", TransformersRunner), ("qwen2", TransformersRunner)]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1].__name__}")
def model_and_runner(request: pytest.FixtureRequest, llama_folder: Path, qwen_folder: Path) -> tuple[Any, Runner]:
    family, runner = request.param
    folder = llama_folder if family == "llama" else qwen_folder
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    model.eval()
    cache = SlotCache(
        layers=2, slots=6, context=CONTEXT, kv_heads=2, head_dim=8, dtype=torch.float32, device=torch.device("cpu")
    )
    return model, runner(model, cache)


def prompt(length: int) -> list[int]:
    return random.Random(length).choices(range(3, VOCAB_SIZE), k=length)


def reference(model: Any, ids: Sequence[int]) -> list[int]:  # noqa: ANN401  (a model of transformers)
    output = model.generate(torch.tensor([ids]), max_new_tokens=NEW_TOKENS, do_sample=False, eos_token_id=None)
    answer: list[int] = output[0, len(ids) :].tolist()
    return answer


def step(runner: Runner, tokens: Sequence[int]) -> torch.Tensor:
    """One token for each of the first slots, without guesses."""
    logits = runner.verify([Draft((token,)) for token in tokens])
    for slot in range(len(tokens)):
        runner.keep(slot, (0,))
    return logits


def greedy(logits: torch.Tensor) -> int:
    return int(logits.argmax())


def test_one_request_equals_transformers(model_and_runner: tuple[Any, Runner]) -> None:
    model, runner = model_and_runner
    answer = [greedy(runner.extend(0, prompt(11)))]
    while len(answer) < NEW_TOKENS:
        answer.append(greedy(step(runner, [answer[-1]])[0]))
    assert answer == reference(model, prompt(11))


def test_a_mixed_batch_equals_transformers_one_by_one(model_and_runner: tuple[Any, Runner]) -> None:
    model, runner = model_and_runner
    prompts = [prompt(n) for n in (1, 40, 7, 100, 3, 12)]
    answers = [[greedy(runner.extend(slot, ids))] for slot, ids in enumerate(prompts)]
    while len(answers[0]) < NEW_TOKENS:
        for answer, logits in zip(answers, step(runner, [answer[-1] for answer in answers]), strict=True):
            answer.append(greedy(logits))
    assert answers == [reference(model, ids) for ids in prompts]


def test_a_prompt_read_in_parts_equals_one_read_at_once(model_and_runner: tuple[Any, Runner]) -> None:
    model, runner = model_and_runner
    ids = prompt(50)
    runner.extend(0, ids[:20])
    runner.extend(0, ids[20:21])
    answer = [greedy(runner.extend(0, ids[21:]))]
    while len(answer) < NEW_TOKENS:
        answer.append(greedy(step(runner, [answer[-1]])[0]))
    assert answer == reference(model, ids)


def test_requests_join_leave_and_move_without_changing_others(model_and_runner: tuple[Any, Runner]) -> None:
    model, runner = model_and_runner
    first = [greedy(runner.extend(0, prompt(9)))]
    second = [greedy(runner.extend(1, prompt(30)))]
    for _ in range(5):
        logits = step(runner, [first[-1], second[-1]])
        first.append(greedy(logits[0]))
        second.append(greedy(logits[1]))
    runner.clear(0)
    runner.move(1, 0)
    third = [greedy(runner.extend(1, prompt(5)))]
    while len(second) < NEW_TOKENS:
        logits = step(runner, [second[-1], third[-1]])
        second.append(greedy(logits[0]))
        third.append(greedy(logits[1]))
    assert second == reference(model, prompt(30))
    assert third == reference(model, prompt(5))[: len(third)]


def verified(runner: Runner, drafts: Sequence[Draft]) -> list[list[int]]:
    """The greedy choice at each node of each draft."""
    choices = iter(runner.verify(drafts).argmax(-1).tolist())
    return [[next(choices) for _ in draft.tokens] for draft in drafts]


def test_a_verified_chain_equals_steps_one_by_one(model_and_runner: tuple[Any, Runner]) -> None:
    model, runner = model_and_runner
    answer = reference(model, prompt(11))
    assert greedy(runner.extend(0, prompt(11))) == answer[0]
    assert verified(runner, [Draft(tuple(answer[:5]))]) == [answer[1:6]]
    runner.keep(0, range(5))
    assert verified(runner, [Draft(tuple(answer[5:6]))]) == [answer[6:7]]


def test_drafts_that_are_not_kept_leave_no_trace(model_and_runner: tuple[Any, Runner]) -> None:
    model, runner = model_and_runner
    answer = reference(model, prompt(11))
    runner.extend(0, prompt(11))
    for wrong in (7, 90, 123):
        assert verified(runner, [Draft((answer[0], answer[1], wrong, wrong))])[0][:2] == answer[1:3]
    runner.keep(0, range(2))
    assert verified(runner, [Draft(tuple(answer[2:6]))]) == [answer[3:7]]


def test_each_branch_of_a_tree_sees_itself_alone(model_and_runner: tuple[Any, Runner]) -> None:
    model, runner = model_and_runner
    a = reference(model, prompt(11))
    runner.extend(0, prompt(11))
    # Node 0 ┬ wrong ─ wrong
    #        └ right ┬ wrong
    #                └ right ─ right
    tree = Draft((a[0], 90, a[1], 91, 92, a[2], a[3]), (-1, 0, 0, 1, 2, 2, 5))
    choices = verified(runner, [tree])[0]
    assert [choices[node] for node in (0, 2, 5, 6)] == a[1:5]
    runner.keep(0, (0, 2, 5, 6))
    answer = a[:5]
    while len(answer) < NEW_TOKENS:
        answer.append(greedy(step(runner, [answer[-1]])[0]))
    assert answer == a


def test_drafts_of_several_lengths_share_a_forward(model_and_runner: tuple[Any, Runner]) -> None:
    model, runner = model_and_runner
    prompts = [prompt(n) for n in (1, 40, 7)]
    answers = [reference(model, ids) for ids in prompts]
    for slot, ids in enumerate(prompts):
        runner.extend(slot, ids)
    tree = Draft((answers[2][0], 80, answers[2][1]), (-1, 0, 0))
    found = verified(runner, [Draft(tuple(answers[0][:4])), Draft(tuple(answers[1][:1])), tree])
    assert (found[0], found[1], [found[2][0], found[2][2]]) == (answers[0][1:5], answers[1][1:2], answers[2][1:3])


def test_watched_layers_give_transformers_own_states(model_and_runner: tuple[Any, Runner]) -> None:
    model, runner = model_and_runner
    ids = prompt(12)
    runner.watch((0, 1))
    runner.extend(0, ids[:5])
    parts = [runner.states]
    runner.extend(0, ids[5:10])
    parts.append(runner.states)
    runner.verify([Draft(tuple(ids[10:]))])
    found = HiddenStates.cat([*(part for part in parts if part), runner.states or pytest.fail("no states")])
    expected = model(torch.tensor([ids]), output_hidden_states=True)
    assert torch.allclose(found.features, torch.cat(expected.hidden_states[:2], dim=-1)[0], atol=1e-5)
    assert torch.allclose(model.lm_head(model.model.norm(found.last)), expected.logits[0], atol=1e-4)
    runner.watch(())
    step(runner, [5])
    assert runner.states is None


def test_a_layer_that_the_target_lacks_is_refused(model_and_runner: tuple[Any, Runner]) -> None:
    with pytest.raises(ConfigError, match=r"layers 0 to 1, features of \[1, 2\] were asked for"):
        model_and_runner[1].watch((1, 2))
