"""Accepting what the target says, and nothing else."""

from collections.abc import Callable

from pipeline.serving.embedded.draft import Draft
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
