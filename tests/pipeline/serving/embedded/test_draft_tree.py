"""Growing a tree of guesses, and what of it is proposed."""

from math import log

import pytest

from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.draft_tree import DraftTree


def logs(*rows: tuple[float, ...]) -> list[list[float]]:
    return [[log(chance) for chance in row] for row in rows]


@pytest.fixture
def tree() -> DraftTree:
    """5 ┬ 6 (.6) ┬ 8 (.54)
    │        └ 9 (.03)
    └ 7 (.3) ┬ 8 (.15)
             └ 4 (.06)
    """
    found = DraftTree(5)
    assert found.branch([[6, 7]], logs((0.6, 0.3))) == [0, 0]
    assert found.frontier_tokens == [6, 7]
    assert found.branch([[8, 9], [8, 4]], logs((0.9, 0.05), (0.5, 0.2))) == [0, 1]
    return found


def test_the_likeliest_of_all_branches_go_on(tree: DraftTree) -> None:
    assert tree.frontier_tokens == [8, 8]
    assert tree.branch([[1, 2], [3, 4]], logs((0.5, 0.4), (0.5, 0.4))) == [0, 0]
    assert tree.frontier_tokens == [1, 2]


def test_the_likeliest_nodes_are_proposed(tree: DraftTree) -> None:
    assert tree.draft(3) == Draft((5, 6, 7, 8), (-1, 0, 0, 1))
    assert tree.draft(4) == Draft((5, 6, 7, 8, 8), (-1, 0, 0, 1, 2))
    assert tree.draft(99) == Draft((5, 6, 7, 8, 9, 8, 4), (-1, 0, 0, 1, 1, 2, 2))


def test_one_branch_is_a_chain(tree: DraftTree) -> None:
    assert tree.draft(1) == Draft((5, 6))


def test_a_sure_follower_does_not_displace_its_parent() -> None:
    found = DraftTree(5)
    found.branch([[6, 7]], [[-1.0, -1.0]])
    found.branch([[8, 9], [8, 9]], [[0.0, -5.0], [0.0, -5.0]])
    assert found.draft(2) == Draft((5, 6, 7), (-1, 0, 0))
