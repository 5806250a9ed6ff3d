"""Attention of a few rows of several requests over their slots of the cache, in one kernel call for all of them.

All query heads of one key head stand where a sequence would, so that no key is repeated for its group of heads.
"""

from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (the field's own abbreviation)

from pipeline.serving.embedded.row_plan import RowPlan


class GroupedAttention:
    def __init__(self, plan: RowPlan, kv_heads: int, group: int) -> None:
        """`group`: query heads of each key head."""
        self._plan = plan
        self._shape = (plan.batch, plan.width, kv_heads, group)
        self._mask = plan.mask.repeat_interleave(group, dim=2)  # [batch, 1, width · group, longest]

    def __call__(self, queries: Tensor, block: Tensor) -> Tensor:
        """[rows, heads, head_dim] over [2, batch, longest, kv_heads, head_dim] → [rows, heads · head_dim]."""
        if self._plan.padded is not None:
            queries = queries[self._plan.padded]
        batch, width, kv_heads, group = self._shape
        grouped = queries.reshape(*self._shape, -1).transpose(1, 2).reshape(batch, kv_heads, width * group, -1)
        keys, values = block.transpose(2, 3)  # [batch, kv_heads, longest, head_dim] each
        mixed = F.scaled_dot_product_attention(grouped, keys, values, self._mask)
        rows = mixed.view(batch, kv_heads, width, group, -1).transpose(1, 2).reshape(batch * width, -1)
        return rows if self._plan.unpadded is None else rows[self._plan.unpadded]
