"""Where the rows of one forward belong: several tokens of several requests, one row each, request after request.

All matrix products take the rows as they come. Attention takes them as [requests, width]; where requests have different
numbers of rows, the shorter ones repeat their last one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pipeline.serving.embedded.draft import Draft


@dataclass(frozen=True)
class RowPlan:
    positions: Tensor
    """int64 [rows], for the rotary embedding."""
    places: Tensor
    """int64 [rows]: where their keys and values go, in the cache with its slots laid end to end."""
    batch: int
    """Requests: the first slots of the cache."""
    width: int
    """Most rows of a request."""
    longest: int
    """Cache places of a slot that attention looks at."""
    mask: Tensor
    """[batch, 1, width, longest], 0 or −inf."""
    padded: Tensor | None
    """int64 [batch · width]: the row that stands at each place; None where all requests have `width` rows."""
    unpadded: Tensor | None
    """int64 [rows]: the place of each row."""


def plan_rows(
    drafts: Sequence[Draft], lengths: Sequence[int], context: int, dtype: torch.dtype, device: torch.device
) -> RowPlan:
    """`lengths`: tokens that each request's slot holds already; `context`: places of a slot."""
    counts = [len(draft) for draft in drafts]
    width, longest = max(counts), max(length + count for length, count in zip(lengths, counts, strict=True))
    starts = torch.tensor(lengths)[:, None]
    places = (starts + torch.arange(width)).clamp_(max=longest - 1)  # [batch, width]
    # Rows see their slot's past and themselves; a chain sees all that stands before, a tree its own branch.
    seen = torch.arange(longest) <= places[..., None]  # [batch, width, longest]
    for slot, draft in enumerate(drafts):
        if draft.parents is not None:
            start, end = lengths[slot], lengths[slot] + len(draft)
            seen[slot, : len(draft), start:end] = ancestors(draft.parents)
    positions = torch.tensor([length + depth for length, draft in zip(lengths, drafts, strict=True) for depth in draft.depths])
    places += torch.arange(len(counts))[:, None] * context
    padded = unpadded = None
    if min(counts) == width:
        flat = places.flatten()
    else:
        inside = torch.arange(width) < torch.tensor(counts)[:, None]  # [batch, width]
        unpadded = inside.flatten().nonzero()[:, 0]
        flat = places.flatten()[unpadded]
        firsts = torch.tensor(counts).cumsum(0) - torch.tensor(counts)
        columns = torch.minimum(torch.arange(width), torch.tensor(counts)[:, None] - 1)
        padded = (firsts[:, None] + columns).flatten()
        seen = seen.gather(1, columns[..., None].expand(-1, -1, longest))
    mask = torch.zeros(seen.shape, dtype=dtype).masked_fill_(~seen, -torch.inf)[:, None]
    return RowPlan(
        positions=positions.to(device),
        places=flat.to(device),
        batch=len(counts),
        width=width,
        longest=longest,
        mask=mask.to(device),
        padded=None if padded is None else padded.to(device),
        unpadded=None if unpadded is None else unpadded.to(device),
    )


def plan_branches(
    lengths: Sequence[int], depth: int, seen: Tensor, context: int, dtype: torch.dtype, device: torch.device
) -> RowPlan:
    """Rows that grow a tree: as many for each request, all `depth` steps after its last row that counts.

    `seen`: bool [batch, width, rows]: which rows of the tree so far each of these follows; these themselves are the last.
    """
    batch, width, rows = seen.shape
    starts, longest = torch.tensor(lengths)[:, None], max(lengths) + rows
    places = starts + torch.arange(rows - width, rows)  # [batch, width]
    mask = torch.full((batch, width, longest), -torch.inf, dtype=dtype)
    for slot, length in enumerate(lengths):
        mask[slot, :, :length] = 0
        mask[slot, :, length : length + rows].masked_fill_(seen[slot], 0)
    return RowPlan(
        positions=(starts + depth - 1).expand(-1, width).flatten().to(device),
        places=(places + torch.arange(batch)[:, None] * context).flatten().to(device),
        batch=batch,
        width=width,
        longest=longest,
        mask=mask[:, None].to(device),
        padded=None,
        unpadded=None,
    )


def ancestors(parents: Sequence[int]) -> Tensor:
    """bool [n, n]: row i sees node j, itself or a node on its way up."""
    seen = torch.eye(len(parents), dtype=torch.bool)
    for node, parent in enumerate(parents):
        if parent >= 0:
            seen[node] |= seen[parent]
    return seen
