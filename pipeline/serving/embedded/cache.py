"""Keys and values of all requests: one slot each, allocated once, with a length of its own.

A layer has [2, slots, context, kv_heads, head_dim], keys first. On a CPU it is mapped memory, so that a page takes room only
when a token is written to it: a slot costs what its request has used, not what it may use.

Tokens are written behind a slot's length and count once it grows. So drafts that were not accepted need no clearing: they
lie behind the length until the next tokens are written over them.
"""

import mmap
from collections.abc import Sequence

import torch
from torch import Tensor

from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.row_plan import RowPlan, plan_branches, plan_rows


class SlotCache:
    def __init__(
        self, *, layers: int, slots: int, context: int, kv_heads: int, head_dim: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        self._all = _zeros((layers, 2, slots, context, kv_heads, head_dim), dtype, device)
        self.layers = self._all.unbind()
        self.lengths = [0] * slots
        """Tokens held by each slot."""
        self.context = context
        self.kv_heads = kv_heads
        self.head_dim = head_dim
        self.dtype = dtype
        self.device = device
        self._flat = self._all.view(layers, 2, slots * context, kv_heads, head_dim).unbind()

    def append(self, layer: int, slot: int, keys: Tensor, values: Tensor) -> Tensor:
        """Write n tokens [n, kv_heads, head_dim] after those of a slot; returns all, [2, length + n, kv_heads, head_dim].

        The slot's length stays: it grows once all layers are written, by `grow`.
        """
        start = self.lengths[slot]
        block = self.layers[layer][:, slot, : start + len(keys)]
        block[0, start:] = keys
        block[1, start:] = values
        return block

    def plan(self, drafts: Sequence[Draft]) -> RowPlan:
        """The rows of one forward over the first len(drafts) slots."""
        return plan_rows(drafts, self.lengths[: len(drafts)], self.context, self.dtype, self.device)

    def plan_branches(self, batch: int, depth: int, seen: Tensor) -> RowPlan:
        """Rows that grow a tree in each of the first `batch` slots, whose lengths stay; see `row_plan.plan_branches`."""
        return plan_branches(self.lengths[:batch], depth, seen, self.context, self.dtype, self.device)

    def write(self, layer: int, plan: RowPlan, keys_values: Tensor) -> None:
        """Write all rows of a plan, [2, rows, kv_heads, head_dim]."""
        self._flat[layer].index_copy_(1, plan.places, keys_values)

    def held(self, plan: RowPlan) -> list[tuple[Tensor, Tensor]]:
        """Keys and values of each layer in the slots of a plan, its rows included, [batch, kv_heads, longest, head_dim] each.

        Views: they may be asked for before the rows are written.
        """
        views = self._all[:, :, : plan.batch, : plan.longest].transpose(3, 4).flatten(0, 1).unbind()
        return list(zip(views[::2], views[1::2], strict=True))

    def keep(self, slot: int, nodes: Sequence[int]) -> None:
        """Of the rows written after those of a slot, let it hold these, ascending. Rows move where others before them go."""
        start = self.lengths[slot]
        moved = [(place, node) for place, node in enumerate(nodes) if place != node]
        if moved:
            targets, sources = (start + torch.tensor(side, device=self.device) for side in zip(*moved, strict=True))
            for layer in self.layers:
                block = layer[:, slot]
                block[:, targets] = block[:, sources]
        self.lengths[slot] = start + len(nodes)

    def grow(self, slot: int, tokens: int) -> None:
        self.lengths[slot] += tokens

    def clear(self, slot: int) -> None:
        self.lengths[slot] = 0

    def move(self, source: int, target: int) -> None:
        """Carry a request over to a free slot."""
        length = self.lengths[source]
        for layer in self.layers:
            layer[:, target, :length] = layer[:, source, :length]
        self.lengths[target], self.lengths[source] = length, 0


def bytes_per_token(*, layers: int, kv_heads: int, head_dim: int, dtype: torch.dtype) -> int:
    return 2 * layers * kv_heads * head_dim * dtype.itemsize


def _zeros(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    if device.type != "cpu":
        return torch.zeros(shape, dtype=dtype, device=device)
    size = torch.Size(shape).numel() * dtype.itemsize
    return torch.frombuffer(mmap.mmap(-1, size), dtype=dtype).view(shape)
