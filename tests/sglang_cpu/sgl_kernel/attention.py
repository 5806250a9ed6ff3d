"""Attention over rows of the KV cache, one request after the other, by PyTorch's own."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention


def decode_attention_cpu(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    _key_scale: float,
    _value_scale: float,
    out: Tensor,
    new_keys: Tensor | None,
    new_values: Tensor | None,
    new_rows: Tensor,
    _scratch: Tensor,
    table: Tensor,
    requests: Tensor,
    lengths: Tensor,
    scale: float,
    *special: Any,
) -> None:
    """One new token for each request: its key and value go to the cache, and it reads all that is there."""
    _refuse(*special)
    if new_keys is not None and new_values is not None:
        keys[new_rows] = new_keys.view(-1, *keys.shape[1:])
        values[new_rows] = new_values.view(-1, *values.shape[1:])
    for number, (request, length) in enumerate(zip(requests.tolist(), lengths.tolist(), strict=True)):
        rows = table[request, :length].long()
        out[number : number + 1] = _attend(queries[number : number + 1], keys[rows], values[rows], None, scale)


def extend_attention_cpu(
    queries: Tensor,
    _new_keys: Tensor | None,
    _new_values: Tensor | None,
    out: Tensor,
    keys: Tensor,
    values: Tensor,
    _key_scale: float,
    _value_scale: float,
    table: Tensor,
    requests: Tensor,
    lengths: Tensor,
    new_lengths: Tensor,
    starts: Tensor,
    _longest: int,
    scale: float,
    cap: float,
    crosses: bool,
    window: int,
    encoder_lengths: Tensor | None,
    sinks: Tensor | None,
    tree_mask: Tensor | None = None,
    is_causal: bool = True,
) -> None:
    """Several new tokens for each request, which the cache holds already.

    Each sees what is before it; drafts see what `tree_mask` says.
    """
    _refuse(cap, crosses, window, encoder_lengths, sinks)
    offset = 0
    spans = zip(requests.tolist(), lengths.tolist(), new_lengths.tolist(), starts.tolist(), strict=True)
    for request, length, new, start in spans:
        rows = table[request, :length].long()
        mask = torch.ones(new, length, dtype=torch.bool)
        if tree_mask is not None:
            mask[:, length - new :] = tree_mask[offset : offset + new * new].view(new, new)
            offset += new * new
        elif is_causal:
            mask = mask.tril(length - new)
        out[start : start + new] = _attend(queries[start : start + new], keys[rows], values[rows], mask, scale)


def _attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """All of shape (tokens, heads, size); several heads of queries may share one of keys."""
    query, key, value = (part.transpose(0, 1).unsqueeze(0) for part in (queries, keys, values))
    found = scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale, enable_gqa=True)
    return found.squeeze(0).transpose(0, 1)


def _refuse(cap: float, crosses: bool, window: int, _encoder_lengths: Tensor | None, sinks: Tensor | None) -> None:
    if cap > 0 or crosses or window > 0 or sinks is not None:
        raise NotImplementedError("capped, crossing or windowed attention, and sinks, have no stand-in for CPUs")
