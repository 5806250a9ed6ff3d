"""Accepting what the target says, and nothing else."""

from collections import Counter
from collections.abc import Callable

import pytest
import torch

from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.job import new_job
from pipeline.serving.embedded.requests import SamplingParams
from pipeline.serving.embedded.sampling import choose, least_probability
from pipeline.serving.embedded.verification import judge

NEVER: frozenset[int] = frozenset()


def says(*tokens: int) -> Callable[[int], int]:
    """The target's token after each node."""
    return lambda node: tokens[node]


def test_a_chain_is_accepted_up_to_its_first_wrong_guess() -> None:
    verdict = judge(Draft((5, 6, 7, 8)), says(6, 7, 1, 2), NEVER)
    assert (verdict.nodes, verdict.tokens, verdict.depths, verdict.correct) == ([0, 1, 2], [6, 7, 1], [1, 2, 0], 2)


def test_a_right_chain_adds_the_targets_own_token() -> None:
    verdict = judge(Draft((5, 6)), says(6, 9), NEVER)
    assert (verdict.nodes, verdict.tokens, verdict.depths) == ([0, 1], [6, 9], [1, 0])


def test_without_guesses_the_target_says_one_token() -> None:
    verdict = judge(Draft((5,)), says(6), NEVER)
    assert (verdict.nodes, verdict.tokens, verdict.depths, verdict.correct) == ([0], [6], [0], 0)


def test_a_stop_token_inside_the_draft_ends_the_answer() -> None:
    verdict = judge(Draft((5, 6, 2, 8)), says(6, 2, 8, 9), frozenset([2]))
    assert (verdict.nodes, verdict.tokens, verdict.depths, verdict.correct) == ([0, 1], [6, 2], [1, 2], 2)


def test_a_tree_is_walked_along_the_targets_tokens() -> None:
    tree = Draft((5, 6, 7, 8, 9, 10), (-1, 0, 0, 1, 2, 4))
    verdict = judge(tree, says(7, 0, 9, 0, 10, 11), NEVER)
    assert (verdict.nodes, verdict.tokens, verdict.depths) == ([0, 2, 4, 5], [7, 9, 10, 11], [1, 2, 3, 0])


LOGITS = torch.randn(5, 5, generator=torch.Generator().manual_seed(3)) * 1.5
"""A target of five tokens: row t holds the logits of what follows token t."""
DRAFTS = {
    "chain": Draft((0, 1, 4)),
    "tree": Draft((0, 3, 1, 2, 4, 2), (-1, 0, 0, 1, 1, 2)),
}
RUNS = 2000


@pytest.mark.parametrize("draft", DRAFTS.values(), ids=DRAFTS.keys())
@pytest.mark.parametrize(
    "params",
    [
        {"temperature": 1.0},
        {"temperature": 0.7, "top_p": 0.9},
        {"temperature": 1.5, "top_k": 3},
        {"temperature": 1.0, "min_p": 0.2},
    ],
    ids=str,
)
@pytest.mark.slow
def test_sampled_answers_have_the_targets_distribution(draft: Draft, params: dict[str, object]) -> None:
    """Chi-square over all pairs of the next two tokens, which guesses may or may not have had a part in."""
    sampling = SamplingParams.model_validate({**params, "sampling_seed": 11})
    job = new_job("r", (0,), sampling, frozenset())

    def answer_from(draft: Draft) -> list[int]:
        return judge(draft, lambda node: choose(LOGITS[draft.tokens[node]], job, 0), NEVER).tokens

    found: Counter[tuple[int, int]] = Counter()
    for _ in range(RUNS):
        answer = answer_from(draft)
        if len(answer) == 1:
            answer += answer_from(Draft((answer[0],)))
        found[answer[0], answer[1]] += 1
    target = torch.stack([distribution(row, sampling) for row in LOGITS])
    expected = {(a, b): RUNS * float(target[0, a] * target[a, b]) for a in range(5) for b in range(5)}
    assert {pair for pair, count in expected.items() if count == 0}.isdisjoint(found)
    cells = [pair for pair, count in expected.items() if count >= 5]
    statistic = sum((found[pair] - expected[pair]) ** 2 / expected[pair] for pair in cells)
    freedom = len(cells) - 1
    # Mean `freedom`, variance 2 · freedom: four standard deviations.
    assert statistic < freedom + 4 * (2 * freedom) ** 0.5


def distribution(logits: torch.Tensor, sampling: SamplingParams) -> torch.Tensor:
    probabilities = torch.softmax(logits.double() / sampling.temperature, dim=-1)
    kept = torch.where(probabilities >= least_probability(probabilities, sampling), probabilities, 0.0)
    return kept / kept.sum()
