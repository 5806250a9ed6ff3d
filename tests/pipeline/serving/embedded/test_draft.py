"""Chains and trees of guesses, and the part of them that fits."""

from pipeline.serving.embedded.draft import Draft

CHAIN = Draft((5, 6, 7, 8))
TREE = Draft((5, 6, 7, 8, 9, 10), (-1, 0, 0, 1, 1, 3))


def test_depths_count_steps_from_the_newest_token() -> None:
    assert list(CHAIN.depths) == [0, 1, 2, 3]
    assert list(TREE.depths) == [0, 1, 1, 2, 2, 3]


def test_children_are_found_by_their_token() -> None:
    assert CHAIN.children == [{6: 1}, {7: 2}, {8: 3}, {}]
    assert TREE.children == [{6: 1, 7: 2}, {8: 3, 9: 4}, {}, {10: 5}, {}, {}]


def test_a_chain_is_cut_at_its_end() -> None:
    assert CHAIN.cut(nodes=9, depth=9) is CHAIN
    assert CHAIN.cut(nodes=2, depth=9) == Draft((5, 6))
    assert CHAIN.cut(nodes=9, depth=0) == Draft((5,))


def test_a_tree_keeps_parents_with_their_children() -> None:
    assert TREE.cut(nodes=4, depth=9) == Draft((5, 6, 7, 8), (-1, 0, 0, 1))
    assert TREE.cut(nodes=9, depth=1) == Draft((5, 6, 7), (-1, 0, 0))
    assert TREE.cut(nodes=9, depth=9) == TREE
