"""Rotary embedding of a layer's queries, keys and values in one go, from tables made once."""

import torch
from torch import Tensor


class Rotary:
    """Turns queries and keys by their position; values beside them are turned by nothing, which saves taking them apart."""

    def __init__(self, cos: Tensor, sin: Tensor, *, turned: int, heads: int) -> None:
        """cos, sin: of all positions, [positions, head_dim]. Of `heads` heads side by side the first `turned` are turned."""
        half = cos.shape[-1] // 2
        self._cos = cos
        self._sin = torch.cat((-sin[:, :half], sin[:, half:]), dim=-1)  # with the minus sign of the rotation
        self._half = half
        self._turned, self._heads = turned, heads

    def at(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Factors for rows at these positions, [n, heads, head_dim] each."""
        cos = self._cos.new_ones(len(positions), self._heads, 2 * self._half)
        sin = self._cos.new_zeros(cos.shape)
        cos[:, : self._turned] = self._cos[positions, None]
        sin[:, : self._turned] = self._sin[positions, None]
        return cos, sin


def rotate(rows: Tensor, factors: tuple[Tensor, Tensor]) -> Tensor:
    """[n, heads, head_dim] by the factors of `Rotary.at`; dimension i turns with i + head_dim/2, as in Llama."""
    cos, sin = factors
    return torch.addcmul(rows * cos, rows.roll(rows.shape[-1] // 2, -1), sin)
