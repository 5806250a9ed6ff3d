"""The stand-ins for SGLang's kernels, by hand-made examples; these need no SGLang."""

import pytest
import torch
from torch import Tensor, tensor

from tests.sglang_cpu import sgl_kernel
from tests.sglang_cpu.sgl_kernel.attention import decode_attention_cpu, extend_attention_cpu
from tests.sglang_cpu.sgl_kernel.cache_rows import (
    assign_draft_cache_locs_contiguous_cpu,
    assign_extend_cache_locs_cpu,
    assign_req_to_token_pool_cpu,
    build_draft_decode_metadata_cpu,
    copy_all_layer_kv_cache_cpu,
)
from tests.sglang_cpu.sgl_kernel.drafts import (
    DRAFT_MASK,
    FULL_MASK,
    build_tree_kernel_efficient_cpu,
    fill_accept_out_cache_loc_cpu,
    fill_bonus_tokens_cpu,
    rotate_input_ids_cpu,
    verify_tree_greedy_cpu,
)

REQUESTS = tensor([2, 0])


def built(parents: list[int], chosen: list[int], *, topk: int, length: int, mode: int) -> tuple[Tensor, ...]:
    size = len(chosen) + 1
    columns = size + (length if mode == FULL_MASK else 0)
    mask = torch.ones(size * columns, dtype=torch.bool)
    positions, index, first, following = (torch.full((size,), -7) for _ in range(4))
    build_tree_kernel_efficient_cpu(
        tensor([parents]), tensor([chosen]), tensor([length]), mask, positions, index, first, following, topk, 3, size, mode
    )
    return mask.view(size, columns), positions, index, first, following


def test_tree_of_two_branches_is_laid_out_for_the_target() -> None:
    # Slot 0 has the children 1 and 2 (drafts 0 and 1), slot 1 has 3 (draft 2, grown at the list's place 1: draft 0).
    mask, positions, index, first, following = built([-1, 0, 1], [0, 1, 2], topk=2, length=5, mode=DRAFT_MASK)
    assert mask.int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]]
    assert positions.tolist() == [5, 6, 6, 7]
    assert index.tolist() == [0, 1, 2, 3]
    assert (first.tolist(), following.tolist()) == ([1, 3, -1, -1], [-1, 2, -1, -1])


def test_mask_with_the_tokens_before_shows_all_of_them() -> None:
    mask = built([-1, 0], [0, 1], topk=1, length=3, mode=FULL_MASK)[0]
    assert mask.int().tolist() == [[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]]


def test_verification_follows_the_targets_choice_to_the_bonus() -> None:
    candidates = tensor([[9, 4, 5, 6], [9, 4, 5, 6]])
    index, first, following = (tensor([row, row]) for row in ([0, 1, 2, 3], [1, 3, -1, -1], [-1, 2, -1, -1]))
    index = tensor([[0, 1, 2, 3], [4, 5, 6, 7]])
    # The first request wants 5 (slot 2), then 8; the second wants 7 at once, which nobody guessed.
    wants = tensor([[5, 0, 8, 0], [7, 0, 0, 0]])
    predicts, accepted, counts = torch.zeros(8, dtype=torch.long), torch.full((2, 4), -1), torch.zeros(2, dtype=torch.long)
    verify_tree_greedy_cpu(predicts, accepted, counts, candidates, index, first, following, wants)
    assert accepted.tolist() == [[0, 2, -1, -1], [4, -1, -1, -1]]
    assert counts.tolist() == [1, 0]
    assert predicts[[0, 2, 4]].tolist() == [5, 8, 7]


def test_accepted_tokens_are_gathered_without_gaps() -> None:
    bonus, rows = torch.zeros(2, dtype=torch.long), torch.zeros(3, dtype=torch.long)
    fill_bonus_tokens_cpu(tensor([[5, 8, 0], [7, 0, 0]]), tensor([2, 1]), bonus, 3)
    fill_accept_out_cache_loc_cpu(tensor([[0, 2], [3, -1]]), tensor([10, 11, 12, 13]), rows)
    assert (bonus.tolist(), rows.tolist()) == ([8, 7], [10, 12, 13])
    ids = tensor([1, 2, 3, 4, 5])
    rotate_input_ids_cpu(ids, tensor([0, 3]), tensor([3, 2]), tensor([[8], [9]]))
    assert ids.tolist() == [2, 3, 8, 5, 9]


def test_table_gives_back_the_rows_that_were_written() -> None:
    table = torch.zeros(3, 8, dtype=torch.int32)
    starts, ends = tensor([1, 0]), tensor([3, 2])
    assign_req_to_token_pool_cpu(REQUESTS, table, starts, ends, tensor([21, 22, 31, 32]), 8)
    assert (table[2, :4].tolist(), table[0, :4].tolist()) == ([0, 21, 22, 0], [31, 32, 0, 0])
    out = torch.zeros(4, dtype=torch.long)
    assign_extend_cache_locs_cpu(REQUESTS, table, starts, ends, out, 8)
    assert out.tolist() == [21, 22, 31, 32]
    drafts = torch.zeros(2, dtype=torch.long)
    assign_draft_cache_locs_contiguous_cpu(tensor([2]), table, tensor([1]), drafts, 8, 1, 2)
    assert drafts.tolist() == [21, 22]


def test_branches_share_what_is_before_them() -> None:
    table = torch.arange(1, 9, dtype=torch.int32).view(1, 8)
    lines = build_draft_decode_metadata_cpu(table, tensor([0]), tensor([3]), 2, 2, 8)
    assert lines.tolist() == [[1, 2, 3, 4, 5, 0, 0, 0], [1, 2, 3, 6, 7, 0, 0, 0]]


def test_rows_are_copied_within_each_buffer() -> None:
    keys, values = (torch.arange(12, dtype=torch.float32).view(4, 3) + shift for shift in (0, 100))
    addresses = tensor([keys.data_ptr(), values.data_ptr()])
    copy_all_layer_kv_cache_cpu(addresses, tensor([12, 12]), tensor([0, 1]), tensor([1, 3]))
    assert keys[:2].tolist() == [[3, 4, 5], [9, 10, 11]]
    assert values[:2].tolist() == [[103, 104, 105], [109, 110, 111]]


def test_decoding_token_by_token_attends_as_extending_at_once() -> None:
    generator = torch.Generator().manual_seed(0)
    queries, keys, values = (torch.randn(5, heads, 4, generator=generator) for heads in (4, 2, 2))
    table = torch.arange(5).view(1, 5)
    at_once, one_by_one = torch.zeros_like(queries), torch.zeros_like(queries)
    request, scratch = tensor([0]), torch.empty(0)
    extend_attention_cpu(
        queries, None, None, at_once, keys, values, 1.0, 1.0, table, request, tensor([5]), tensor([5]), tensor([0]), 5, 0.5,
        0.0, False, 0, None, None,
    )  # fmt: skip
    cached = torch.zeros_like(keys), torch.zeros_like(values)
    for place in range(5):
        decode_attention_cpu(
            queries[place : place + 1], *cached, 1.0, 1.0, one_by_one[place : place + 1], keys[place], values[place],
            tensor([place]), scratch, table, request, tensor([place + 1]), 0.5, 0.0, False, 0, None, None,
        )  # fmt: skip
    torch.testing.assert_close(one_by_one, at_once)


def test_what_has_no_stand_in_says_so_when_it_is_called() -> None:
    kernel = sgl_kernel.fused_experts_cpu
    with pytest.raises(NotImplementedError, match="fused_experts_cpu has no stand-in for CPUs"):
        kernel()
