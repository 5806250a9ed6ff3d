"""Moving rows: of the KV cache, and of the table that says which of them belong to a request.

`table[request, position]` is the row of the KV cache that holds the token at this position.
"""

import ctypes
from collections.abc import Iterator

import torch
from torch import Tensor


def _stretches(table: Tensor, requests: Tensor, starts: Tensor, ends: Tensor) -> Iterator[Tensor]:
    """The part of each request's line from start to end, as a view."""
    for request, start, end in zip(requests.tolist(), starts.tolist(), ends.tolist(), strict=True):
        yield table[request, start:end]


def assign_req_to_token_pool_cpu(
    requests: Tensor, table: Tensor, starts: Tensor, ends: Tensor, rows: Tensor, _table_width: int
) -> None:
    """Write `rows`, which follow one another request by request, into the table."""
    taken = 0
    for stretch in _stretches(table, requests, starts, ends):
        stretch.copy_(rows[taken : taken + len(stretch)])
        taken += len(stretch)


def assign_extend_cache_locs_cpu(
    requests: Tensor, table: Tensor, starts: Tensor, ends: Tensor, out: Tensor, _table_width: int
) -> None:
    """Read from the table what the function above writes; `out` may be longer."""
    found = torch.cat(list(_stretches(table, requests, starts, ends)))
    out[: len(found)] = found


def assign_draft_cache_locs_contiguous_cpu(
    requests: Tensor, table: Tensor, lengths: Tensor, out: Tensor, table_width: int, topk: int, steps: int
) -> None:
    """The rows for drafts, which lie behind the tokens that a request has."""
    assign_extend_cache_locs_cpu(requests, table, lengths, lengths + topk * steps, out, table_width)


def build_draft_decode_metadata_cpu(
    table: Tensor, requests: Tensor, lengths: Tensor, topk: int, steps: int, table_width: int
) -> Tensor:
    """A table with a line for each branch of each request: the tokens that all branches share, then its own drafts."""
    lines = torch.zeros(len(requests) * topk, table_width, dtype=table.dtype)
    for number, (request, length) in enumerate(zip(requests.tolist(), lengths.tolist(), strict=True)):
        own = lines[number * topk : (number + 1) * topk]
        own[:, :length] = table[request, :length]
        own[:, length : length + steps] = table[request, length : length + topk * steps].view(topk, steps)
    return lines


def copy_all_layer_kv_cache_cpu(addresses: Tensor, row_bytes: Tensor, targets: Tensor, sources: Tensor) -> None:
    """Copy rows within each buffer (one for the keys and one for the values of a layer), given by address and size of a row."""
    if not len(targets):
        return
    rows = int(max(targets.max(), sources.max())) + 1
    for address, width in zip(addresses.tolist(), row_bytes.tolist(), strict=True):
        memory = (ctypes.c_uint8 * (rows * width)).from_address(address)
        buffer = torch.frombuffer(memory, dtype=torch.uint8).view(rows, width)
        buffer[targets.long()] = buffer[sources.long()]
