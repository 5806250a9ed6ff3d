"""Attention over the slots of the cache, as a layer calls it: it writes the rows' keys and values, then mixes what is held.

All query heads of one key head stand where a sequence would, so that no key is repeated for its group of heads.
"""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (the field's own abbreviation)

from pipeline.serving.embedded.cache import SlotCache
from pipeline.serving.embedded.packed_layer import Attend
from pipeline.serving.embedded.row_plan import RowPlan


class GroupedAttention:
    """A few rows of several requests, in one kernel call for all of them."""

    def __init__(self, cache: SlotCache, plan: RowPlan, heads: int) -> None:
        self._cache = cache
        self._plan = plan
        self._shape = (plan.batch, plan.width, cache.kv_heads, heads // cache.kv_heads, cache.head_dim)
        self._mask = plan.mask.repeat_interleave(heads // cache.kv_heads, dim=2)  # [batch, 1, width · group, longest]
        self._held = cache.held(plan)

    def of_layer(self, layer: int) -> Attend:
        def attend(queries: Tensor, keys_values: Tensor) -> Tensor:
            self._cache.write(layer, self._plan, keys_values)
            return self._mix(queries, *self._held[layer])

        return attend

    def _mix(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """[rows, heads, head_dim] over [batch, kv_heads, longest, head_dim] each → [rows, heads · head_dim]."""
        if self._plan.padded is not None:
            queries = queries[self._plan.padded]
        batch, width, kv_heads, group, head_dim = self._shape
        grouped = queries.view(self._shape).transpose(1, 2).reshape(batch, kv_heads, width * group, head_dim)
        mixed = F.scaled_dot_product_attention(grouped, keys, values, self._mask)
        rows = mixed.view(batch, kv_heads, width, group, head_dim).transpose(1, 2).reshape(batch * width, -1)
        return rows if self._plan.unpadded is None else rows[self._plan.unpadded]


def attend_prompt(cache: SlotCache, layer: int, slot: int) -> Attend:
    """Many rows of one request, all after what its slot holds."""

    def attend(queries: Tensor, keys_values: Tensor) -> Tensor:
        start, count = cache.lengths[slot], len(queries)
        block = cache.append(layer, slot, keys_values[0], keys_values[1])  # [2, all, kv_heads, head_dim]
        keys, values = block.transpose(1, 2)[:, None]  # [1, kv_heads, all, head_dim] each
        mask = torch.ones(count, start + count, dtype=torch.bool, device=cache.device).tril(start) if start else None
        mixed = F.scaled_dot_product_attention(
            queries.transpose(0, 1)[None], keys, values, mask, is_causal=mask is None, enable_gqa=True
        )  # [1, heads, n, head_dim]
        return mixed[0].transpose(0, 1).reshape(count, -1)

    return attend
