"""Keys and values of all requests: one slot each, allocated once, with a length of its own.

A layer is one tensor [2, slots, context, kv_heads, head_dim], keys first. On a CPU it is mapped memory, so that a page takes
room only when a token is written to it: a slot costs what its request has used, not what it may use.
"""

import mmap

import torch
from torch import Tensor


class SlotCache:
    def __init__(
        self, *, layers: int, slots: int, context: int, kv_heads: int, head_dim: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        shape = (2, slots, context, kv_heads, head_dim)
        self.layers = [_zeros(shape, dtype, device) for _ in range(layers)]
        self.lengths = [0] * slots
        """Tokens held by each slot."""
        self.context = context
        self.device = device
        self._flat = [layer.view(2, slots * context, kv_heads, head_dim) for layer in self.layers]
        self._places = torch.empty(0, dtype=torch.long, device=device)

    def append(self, layer: int, slot: int, keys: Tensor, values: Tensor) -> Tensor:
        """Write n tokens [n, kv_heads, head_dim] after those of a slot; returns all, [2, length + n, kv_heads, head_dim].

        The slot's length stays: it grows once all layers are written, by `grow`.
        """
        start = self.lengths[slot]
        block = self.layers[layer][:, slot, : start + len(keys)]
        block[0, start:] = keys
        block[1, start:] = values
        return block

    def begin_step(self, batch: int) -> tuple[Tensor, int]:
        """Prepare one more token in each of the first `batch` slots: its positions [batch], the longest length after it."""
        lengths = self.lengths[:batch]
        self._places = torch.tensor([slot * self.context + n for slot, n in enumerate(lengths)], device=self.device)
        return torch.tensor(lengths, device=self.device), max(lengths) + 1

    def append_step(self, layer: int, keys_values: Tensor) -> None:
        """Write one token in each slot of the step: keys_values [2, batch, kv_heads, head_dim]."""
        self._flat[layer].index_copy_(1, self._places, keys_values)

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
