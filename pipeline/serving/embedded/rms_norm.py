"""RMSNorm for a few rows: three small kernels, where torch's own takes eight on a CPU."""

import torch
from torch import Tensor


class RMSNorm:
    """x / sqrt(mean(x²) + eps) · weight, for x [n, size], computed in float32."""

    def __init__(self, weight: Tensor, eps: float) -> None:
        size = len(weight)
        self._factor = weight.detach().float() * size**0.5
        self._floor = torch.tensor((size * eps) ** 0.5, device=weight.device)

    def __call__(self, x: Tensor) -> Tensor:
        wide = x.float()
        # sqrt(size) · sqrt(mean(x²) + eps), without the squares in between.
        length = torch.hypot(torch.linalg.vector_norm(wide, dim=-1, keepdim=True), self._floor)  # [n, 1]
        return wide.div(length).mul_(self._factor).to(x.dtype)
