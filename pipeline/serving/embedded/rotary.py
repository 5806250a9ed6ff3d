"""Rotary embedding from tables: one cosine and one sine for each position and dimension, made once."""

import torch
from torch import Tensor


def signed(sin: Tensor) -> Tensor:
    """Sines [positions, head_dim] with the minus sign of the rotation in their first half, as `rotate` takes them."""
    half = sin.shape[-1] // 2
    return torch.cat((-sin[:, :half], sin[:, half:]), dim=-1)


def rotate(rows: Tensor, cos: Tensor, signed_sin: Tensor) -> Tensor:
    """[n, heads, head_dim], turned by the angles of each row, [n, 1, head_dim]."""
    half = rows.shape[-1] // 2
    swapped = torch.cat((rows[..., half:], rows[..., :half]), dim=-1)
    return rows * cos + swapped * signed_sin
