"""Attention of the training-time test: one softmax over the step-0 keys of the past and the row's own keys of later steps.

    keys        step 0, rows of the document      step 1 … step k
    query p     0 … p (causal)                    only row p itself

The step-0 part is computed in blocks of query rows inside one document, so that another document's keys are never even
touched, and the keys after a block's last row are skipped. Nothing of size [rows, keys] outlives its block: the backward
pass computes the weights again from the logarithm of the softmax denominator.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

BLOCK_ROWS = 128


@dataclass(frozen=True)
class Block:
    """Query rows that are computed together, and the keys that the last of them sees."""

    queries: slice
    """Into the query rows [R]."""
    keys: slice
    """Into all rows [M]: from the document's first row to the block's last."""
    future: Tensor
    """bool [queries, tail]: which of the last `tail` keys lie after a query."""


def plan_blocks(query_rows: Tensor, spans: Sequence[tuple[int, int]], block_rows: int = BLOCK_ROWS) -> list[Block]:
    """Cut the query rows into blocks. `query_rows`: int64 [R], ascending, into M rows of which `spans` are the documents."""
    blocks = []
    for start, end in spans:
        first, last = torch.searchsorted(query_rows, torch.tensor([start, end], device=query_rows.device)).tolist()
        for a in range(first, last, block_rows):
            rows = query_rows[a : min(a + block_rows, last)]
            tail = torch.arange(int(rows[0]) + 1, int(rows[-1]) + 1, device=rows.device)
            blocks.append(Block(slice(a, a + len(rows)), slice(start, int(rows[-1]) + 1), tail > rows[:, None]))
    return blocks


def attend(q: Tensor, k0: Tensor, v0: Tensor, own: Sequence[tuple[Tensor, Tensor]], blocks: Sequence[Block]) -> Tensor:
    """Attention output, [R, heads, head_dim].

    q: [R, heads, head_dim]; k0, v0: [M, kv_heads, head_dim] of step 0; own: (k, v) of each later step, [R, kv_heads, head_dim].
    Query head h uses key head h // (heads / kv_heads). Products run in the dtype of q, softmax in float32 or wider.
    """
    kv_heads = k0.shape[1]
    # Rows of one key head lie together, so that its group of query heads is one matrix.
    grouped = q.view(len(q), kv_heads, -1, q.shape[-1]).transpose(0, 1)  # [kv_heads, R, group, head_dim]
    flat = [tensor.transpose(0, 1) for pair in ((k0, v0), *own) for tensor in pair]  # [kv_heads, rows, head_dim] each
    out: Tensor = _Attend.apply(blocks, grouped.contiguous(), *(tensor.contiguous() for tensor in flat))  # type: ignore[no-untyped-call]
    return out.transpose(0, 1).flatten(1, 2)  # [R, heads, head_dim]


class _Attend(torch.autograd.Function):
    """q: [G, R, g, D] for G key heads and g query heads on each; k0, v0: [G, M, D]; own k and v, alternating: [G, R, D]."""

    @staticmethod
    def forward(ctx: FunctionCtx, blocks: Sequence[Block], q: Tensor, k0: Tensor, v0: Tensor, *own: Tensor) -> Tensor:
        out = torch.empty_like(q)
        log_sums = q.new_empty(q.shape[:3], dtype=_wide(q))  # [G, R, g]
        for block in blocks:
            past, diagonal = _scores(block, q, k0, own[::2])
            top = torch.maximum(past.amax(-1), diagonal.amax(-1)) if own else past.amax(-1)  # [G, b, g]
            past.sub_(top[..., None]).exp_()
            diagonal.sub_(top[..., None]).exp_()
            total = past.sum(-1) + diagonal.sum(-1)
            mixed = torch.bmm(past.flatten(1, 2).to(q.dtype), v0[:, block.keys]).view_as(q[:, block.queries])
            mixed = mixed.to(total.dtype) + _mix_own(diagonal, own[1::2], block)
            out[:, block.queries] = (mixed / total[..., None]).to(q.dtype)
            log_sums[:, block.queries] = top + total.log()
        ctx.save_for_backward(q, k0, v0, out, log_sums, *own)
        ctx.blocks = blocks  # type: ignore[attr-defined]
        return out

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k0, v0, out, log_sums, *own = ctx.saved_tensors  # type: ignore[attr-defined]
        scale = q.shape[-1] ** -0.5
        d_q, d_k0, d_v0 = torch.empty_like(q), torch.zeros_like(k0, dtype=_wide(q)), torch.zeros_like(v0, dtype=_wide(q))
        d_own = [torch.empty_like(tensor) for tensor in own]
        for block in ctx.blocks:  # type: ignore[attr-defined]
            rows, keys = block.queries, block.keys
            past, diagonal = _scores(block, q, k0, own[::2])
            log_sum = log_sums[:, rows, :, None]
            past.sub_(log_sum).exp_()  # the softmax weights [G, b, g, n]
            diagonal.sub_(log_sum).exp_()  # [G, b, g, j]
            d_out = grad[:, rows].contiguous()  # [G, b, g, D]
            q_flat, d_out_flat = q[:, rows].flatten(1, 2), d_out.flatten(1, 2)  # [G, b·g, D]
            mean = (d_out.to(past.dtype) * out[:, rows]).sum(-1, keepdim=True)  # [G, b, g, 1]

            d_v0[:, keys] += torch.bmm(past.flatten(1, 2).to(q.dtype).mT, d_out_flat)
            d_past = torch.bmm(d_out_flat, v0[:, keys].mT).view_as(past).to(past.dtype)
            d_past = d_past.sub_(mean).mul_(past).mul_(scale).flatten(1, 2).to(q.dtype)
            d_k0[:, keys] += torch.bmm(d_past.mT, q_flat)
            d_rows = torch.bmm(d_past, k0[:, keys]).view_as(d_out).to(past.dtype)

            for j, (key, value) in enumerate(zip(own[::2], own[1::2], strict=True)):
                weight = diagonal[..., j, None]  # [G, b, g, 1]
                d_own[2 * j + 1][:, rows] = (weight * d_out).sum(2).to(value.dtype)
                d_score = ((d_out * value[:, rows, None]).sum(-1, keepdim=True, dtype=past.dtype) - mean) * weight * scale
                d_own[2 * j][:, rows] = (d_score * q[:, rows]).sum(2).to(key.dtype)
                d_rows += d_score * key[:, rows, None]
            d_q[:, rows] = d_rows.to(q.dtype)
        return None, d_q, d_k0.to(k0.dtype), d_v0.to(v0.dtype), *d_own


def _wide(tensor: Tensor) -> torch.dtype:
    return torch.promote_types(tensor.dtype, torch.float32)


def _scores(block: Block, q: Tensor, k0: Tensor, own_keys: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Scaled scores of one block: [G, b, g, n] against step-0 keys, the future at −inf, and [G, b, g, j] against own keys."""
    rows = q[:, block.queries]  # [G, b, g, D]
    past = torch.bmm(rows.flatten(1, 2), k0[:, block.keys].mT).view(*rows.shape[:3], -1)  # [G, b, g, n]
    past = past.to(_wide(q)).mul_(q.shape[-1] ** -0.5)
    tail = block.future.shape[1]
    past[..., past.shape[-1] - tail :].masked_fill_(block.future[None, :, None], float("-inf"))
    if not own_keys:
        return past, past.new_empty((*past.shape[:-1], 0))
    own = [(rows * key[:, block.queries, None]).sum(-1, dtype=past.dtype) for key in own_keys]  # [G, b, g] each
    return past, torch.stack(own, -1).mul_(q.shape[-1] ** -0.5)


def _mix_own(weights: Tensor, own_values: Sequence[Tensor], block: Block) -> Tensor | float:
    """Σ_j weights[..., j] · value_j, [G, b, g, D]."""
    return sum((weights[..., j, None] * value[:, block.queries, None] for j, value in enumerate(own_values)), start=0.0)
