"""Attention of the training-time test: one softmax over the step-0 keys of the past and the row's own keys of later steps.

    keys        step 0, rows of the document      step 1 … step k
    query p     0 … p (causal)                    only row p itself

The step-0 part is computed in blocks of query rows inside one document, so that another document's keys are never even
touched, and the keys after a block's last row are skipped. Nothing of size [rows, keys] outlives its block: the backward
pass computes the weights again.
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
    Query head h uses key head h // (heads / kv_heads).
    """
    scaled = (q * q.shape[-1] ** -0.5).view(len(q), k0.shape[1], -1, q.shape[-1]).transpose(0, 1)  # [G, R, g, D]
    flat = [tensor.transpose(0, 1).contiguous() for pair in ((k0, v0), *own) for tensor in pair]  # [G, rows, D] each
    out: Tensor = _Attend.apply(blocks, scaled.contiguous(), *flat)  # type: ignore[no-untyped-call]
    return out.transpose(0, 1).flatten(1, 2)  # [R, heads, head_dim]


class _Attend(torch.autograd.Function):
    """For G key heads with a group of g query heads on each, and j later steps.

    q: [G, R, g, D], scaled; k0, v0: [G, M, D]; own: keys and values of the later steps in turn, [G, R, D] each.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, blocks: Sequence[Block], q: Tensor, k0: Tensor, v0: Tensor, *own: Tensor) -> Tensor:
        keys, values = _by_row(q, own[::2]), _by_row(q, own[1::2])
        own_scores = q @ keys.mT  # [G, R, g, j]
        out, own_weights = torch.empty_like(q), torch.empty_like(own_scores)
        for block in blocks:
            past, own_weights[:, block.queries] = _weights(block, q, k0, own_scores)
            out[:, block.queries] = torch.bmm(past, v0[:, block.keys]).view_as(q[:, block.queries])
        out += own_weights @ values
        ctx.save_for_backward(q, k0, v0, out, *own)
        ctx.blocks = blocks  # type: ignore[attr-defined]
        return out

    @staticmethod
    def backward(ctx: FunctionCtx, d_out: Tensor) -> tuple[Tensor | None, ...]:
        q, k0, v0, out, *own = ctx.saved_tensors  # type: ignore[attr-defined]
        d_out = d_out.contiguous()
        wide = torch.promote_types(q.dtype, torch.float32)
        keys, values = _by_row(q, own[::2]), _by_row(q, own[1::2])
        own_scores = q @ keys.mT  # [G, R, g, j]
        own_weights = torch.empty_like(own_scores)
        # Softmax passes on weight · (d_weight − mean), where the mean over all keys is d_out · out.
        mean = (d_out.to(wide) * out).sum(-1, keepdim=True).to(q.dtype)  # [G, R, g, 1]
        d_q, d_k0, d_v0 = torch.empty_like(q), torch.zeros_like(k0, dtype=wide), torch.zeros_like(v0, dtype=wide)
        for block in ctx.blocks:  # type: ignore[attr-defined]
            past, own_weights[:, block.queries] = _weights(block, q, k0, own_scores)
            rows = [tensor[:, block.queries].flatten(1, 2) for tensor in (q, d_out, mean)]  # [G, b·g, ·] each
            d_v0[:, block.keys] += torch.bmm(past.mT, rows[1])
            d_past = torch.bmm(rows[1], v0[:, block.keys].mT).sub_(rows[2]).mul_(past)  # [G, b·g, n]
            d_k0[:, block.keys] += torch.bmm(d_past.mT, rows[0])
            d_q[:, block.queries] = torch.bmm(d_past, k0[:, block.keys]).view_as(q[:, block.queries])
        d_scores = (d_out @ values.mT).sub_(mean).mul_(own_weights)  # [G, R, g, j]
        d_q += d_scores @ keys
        d_keys, d_values = (d_scores.mT @ q).unbind(2), (own_weights.mT @ d_out).unbind(2)  # j of [G, R, D] each
        d_own = [tensor for pair in zip(d_keys, d_values, strict=True) for tensor in pair]
        return None, d_q, d_k0.to(k0.dtype), d_v0.to(v0.dtype), *d_own


def _by_row(q: Tensor, steps: Sequence[Tensor]) -> Tensor:
    """The later steps' keys or values beside each other, [G, R, j, D]."""
    return torch.stack(list(steps), 2) if steps else q.new_empty((*q.shape[:2], 0, q.shape[-1]))


def _weights(block: Block, q: Tensor, k0: Tensor, own_scores: Tensor) -> tuple[Tensor, Tensor]:
    """Softmax weights of one block: [G, b·g, n] on step-0 keys and [G, b, g, j] on own keys, which add up to one."""
    rows = q[:, block.queries]  # [G, b, g, D]
    seen = block.keys.stop - block.keys.start
    scores = q.new_empty((*rows.shape[:3], seen + own_scores.shape[-1]))  # [G, b, g, n + j]
    torch.bmm(rows.flatten(1, 2), k0[:, block.keys].mT, out=scores.flatten(1, 2)[..., :seen])
    scores[..., seen - block.future.shape[1] : seen].masked_fill_(block.future[None, :, None], float("-inf"))
    scores[..., seen:] = own_scores[:, block.queries]
    weights = scores.softmax(-1)
    return weights.flatten(1, 2)[..., :seen], weights[..., seen:]
