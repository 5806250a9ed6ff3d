"""The mask as literal grids, read off the gradients: which keys does a query row really see?"""

import torch
from torch import Tensor

from pipeline.attention import attend, plan_blocks

HEADS, KV_HEADS, HEAD_DIM = 4, 2, 8


def normal(rows: int, heads: int, seed: int) -> Tensor:
    made = torch.randn(rows, heads, HEAD_DIM, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return made.requires_grad_()


def seen(spans: list[tuple[int, int]], query_rows: list[int], later_steps: int, block_rows: int = 2) -> list[str]:
    """One line a query row: 0 or 1 for each step-0 key, then for each own key of each later step."""
    rows = spans[-1][1]
    q = normal(len(query_rows), HEADS, 0)
    k0, v0 = normal(rows, KV_HEADS, 1), normal(rows, KV_HEADS, 2)
    own = [(normal(len(query_rows), KV_HEADS, 10 + j), normal(len(query_rows), KV_HEADS, 20 + j)) for j in range(later_steps)]
    out = attend(q, k0, v0, own, plan_blocks(torch.tensor(query_rows), spans, block_rows))
    lines = []
    for row in range(len(query_rows)):
        gradients = torch.autograd.grad(out[row].sum(), [v0, *(value for _, value in own)], retain_graph=True)
        parts = ["".join("1" if bool(key.any()) else "0" for key in gradient) for gradient in gradients]
        lines.append(" ".join(parts))
    return lines


def test_step_0_is_causal() -> None:
    assert seen([(0, 5)], [0, 1, 2, 3, 4], 0) == ["10000", "11000", "11100", "11110", "11111"]


def test_later_steps_are_seen_on_the_own_diagonal_only() -> None:
    assert seen([(0, 4)], [0, 1, 2, 3], 2) == [
        "1000 1000 1000",
        "1100 0100 0100",
        "1110 0010 0010",
        "1111 0001 0001",
    ]


def test_packed_documents_do_not_see_each_other() -> None:
    assert seen([(0, 3), (3, 5), (5, 8)], list(range(8)), 1) == [
        "10000000 10000000",
        "11000000 01000000",
        "11100000 00100000",
        "00010000 00010000",
        "00011000 00001000",
        "00000100 00000100",
        "00000110 00000010",
        "00000111 00000001",
    ]


def test_rows_without_a_label_are_keys_and_no_queries() -> None:
    assert seen([(0, 4), (4, 9)], [2, 3, 5, 8], 1) == [
        "111000000 1000",
        "111100000 0100",
        "000011000 0010",
        "000011111 0001",
    ]


def test_blocks_of_any_size_attend_alike() -> None:
    query_rows, spans = torch.tensor([1, 2, 3, 6, 7, 9, 10, 11]), [(0, 5), (5, 12)]
    q, k0, v0 = normal(8, HEADS, 0), normal(12, KV_HEADS, 1), normal(12, KV_HEADS, 2)
    own = [(normal(8, KV_HEADS, 3), normal(8, KV_HEADS, 4))]
    whole = attend(q, k0, v0, own, plan_blocks(query_rows, spans))
    for size in (1, 3, 5):
        torch.testing.assert_close(attend(q, k0, v0, own, plan_blocks(query_rows, spans, size)), whole, rtol=1e-12, atol=0)


def test_gradients_are_those_of_the_function() -> None:
    spans, query_rows = [(0, 3), (3, 7)], torch.tensor([1, 2, 4, 6])
    blocks = plan_blocks(query_rows, spans, 2)
    inputs = (
        normal(4, HEADS, 0),
        normal(7, KV_HEADS, 1),
        normal(7, KV_HEADS, 2),
        normal(4, KV_HEADS, 3),
        normal(4, KV_HEADS, 4),
    )

    def function(q: Tensor, k0: Tensor, v0: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return attend(q, k0, v0, [(key, value)], blocks)

    assert torch.autograd.gradcheck(function, inputs)
