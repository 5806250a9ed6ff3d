"""Packed products against plain ones."""

import pytest
import torch

from pipeline.serving.embedded.linear import prepare


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 8, 32, 100])
def test_a_packed_product_equals_the_plain_one(rows: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(rows, 48).to(dtype), torch.randn(40, 48).to(dtype)
    plain = torch.nn.functional.linear(x, weight)
    torch.testing.assert_close(prepare(weight)(x), plain)
