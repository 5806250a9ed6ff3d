"""Matrix products with weights that never change.

On a CPU the weights are stored once in the order that oneDNN's kernels read them in; a plain product would have to reorder
them each time, or fall back to a kernel that is two to three times slower for the few rows of a decoding step.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (the field's own abbreviation)

ROWS_HINT = 32
"""Rows that the packed order is made for; products with other numbers of rows are right too."""


def prepare(weight: Tensor) -> Callable[[Tensor], Tensor]:
    """`x @ weight.T` for x [rows, in], weight [out, in]."""
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return lambda rows: F.linear(rows, weight)
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS_HINT)
    multiply = torch.ops.mkldnn._linear_pointwise

    def product(rows: Tensor) -> Tensor:
        result: Tensor = multiply(rows, packed, None, "none", [], "")
        return result

    return product
