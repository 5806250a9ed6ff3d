"""A Llama layer for inference: q, k, v in one product, gate and up in another, weights packed for the CPU at hand."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (the field's own abbreviation)

from pipeline.serving.embedded.linear import prepare
from pipeline.serving.embedded.rms_norm import RMSNorm
from pipeline.serving.embedded.rotary import rotate

Attend = Callable[[Tensor, Tensor], Tensor]
"""Queries [n, heads, head_dim], keys and values [2, n, kv_heads, head_dim] → [n, heads · head_dim]."""


class PackedLayer:
    """H hidden size. The input of q, k, v is H wide in a Llama and 2H in a drafter; the caller norms it."""

    def __init__(
        self,
        *,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        out: Tensor,
        post_norm: Tensor,
        gate: Tensor,
        up: Tensor,
        down: Tensor,
        head_dim: int,
        eps: float,
    ) -> None:
        """Weights as a checkpoint has them, [out, in]."""
        self.heads, self.kv_heads = len(queries) // head_dim, len(keys) // head_dim
        self._head_dim = head_dim
        self._qkv = prepare(torch.cat([queries, keys, values]))
        self._out = prepare(out)
        self._post_norm = RMSNorm(post_norm, eps)
        self._gate_up = prepare(torch.cat([gate, up]))
        self._down = prepare(down)

    def __call__(self, normed: Tensor, hidden: Tensor, factors: tuple[Tensor, Tensor], attend: Attend) -> Tensor:
        """Residual stream [n, H] after the layer, from its normed input and the stream before. `factors`: of `Rotary.at`."""
        rows = rotate(self._qkv(normed).view(len(normed), -1, self._head_dim), factors)  # [n, heads + 2 · kv_heads, head_dim]
        keys_values = rows[:, self.heads :].view(len(normed), 2, self.kv_heads, self._head_dim).transpose(0, 1)
        hidden = hidden + self._out(attend(rows[:, : self.heads], keys_values))
        gate, up = self._gate_up(self._post_norm(hidden)).chunk(2, dim=-1)
        return hidden + self._down(F.silu(gate).mul_(up))
