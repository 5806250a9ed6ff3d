"""Drafts: how a tree of them is laid out for one forward of the target, and how far the target agrees.

A tree has `size` slots; slot 0 is the newest accepted token. Three arrays of the tree's shape let the verification walk it: the
index of a slot in the whole batch, the first child of a slot, and its next sibling, −1 where there is none.
"""

import torch
from torch import Tensor

FULL_MASK, DRAFT_MASK = 0, 1
"""SGLang's tree mask modes: with columns for the tokens before the drafts, or without."""


def build_tree_kernel_efficient_cpu(
    parent_list: Tensor,
    chosen: Tensor,
    lengths: Tensor,
    mask: Tensor,
    positions: Tensor,
    index: Tensor,
    first_child: Tensor,
    next_sibling: Tensor,
    topk: int,
    _depth: int,
    size: int,
    mask_mode: int,
) -> None:
    """Fill mask, positions and the three arrays for trees of which `chosen` names the drafts, in the order of their slots.

    A draft's number divided by topk says at which expanded node it grew: number 0 is slot 0, any other stands in `parent_list`.
    """
    if int(mask_mode) not in (FULL_MASK, DRAFT_MASK):
        raise NotImplementedError(f"tree mask mode {mask_mode}: masks packed into bits have no stand-in for CPUs")
    batch = len(lengths)
    index.view(batch, size).copy_(torch.arange(batch * size).view(batch, size))
    trees = zip(chosen.view(batch, -1).tolist(), parent_list.view(batch, -1).tolist(), lengths.tolist(), strict=True)
    offset = 0
    for number, (drafts, grown_at, length) in enumerate(trees):
        slot_of = {draft: slot for slot, draft in enumerate(drafts, start=1)}
        parents = [0 if draft < topk else slot_of[grown_at[draft // topk]] for draft in drafts]
        sees, depths = _ancestry(parents)
        positions.view(batch, size)[number] = length + depths
        children, siblings = _links(parents)
        first_child.view(batch, size)[number] = children
        next_sibling.view(batch, size)[number] = siblings
        before = length if int(mask_mode) == FULL_MASK else 0
        columns = before + size
        own = mask.view(-1)[offset : offset + size * columns].view(size, columns)
        own[:, before:] = sees.to(mask.dtype)
        offset += size * columns


def _ancestry(parents: list[int]) -> tuple[Tensor, Tensor]:
    """Which slots each slot sees (its ancestors and itself), and how deep it lies. Parents come before their children."""
    size = len(parents) + 1
    sees = torch.eye(size, dtype=torch.bool)
    for slot, parent in enumerate(parents, start=1):
        sees[slot] |= sees[parent]
    return sees, sees.sum(1) - 1


def _links(parents: list[int]) -> tuple[Tensor, Tensor]:
    """First child and next sibling of each slot."""
    first, following = [-1] * (len(parents) + 1), [-1] * (len(parents) + 1)
    newest: dict[int, int] = {}
    for slot, parent in enumerate(parents, start=1):
        if parent in newest:
            following[newest[parent]] = slot
        else:
            first[parent] = slot
        newest[parent] = slot
    return torch.tensor(first), torch.tensor(following)


def verify_tree_greedy_cpu(
    predicts: Tensor,
    accept_index: Tensor,
    accept_token_num: Tensor,
    candidates: Tensor,
    retrive_index: Tensor,
    retrive_next_token: Tensor,
    retrive_next_sibling: Tensor,
    target_predict: Tensor,
) -> None:
    """Follow each tree as long as a child is the target's own choice.

    Writes the target's choice at each slot that was reached (the last one is the bonus), the indices of accepted slots with
    slot 0 among them, and how many drafts were accepted.
    """
    wants = target_predict.flatten().tolist()
    most = accept_index.shape[1]
    trees = zip(
        candidates.tolist(), retrive_index.tolist(), retrive_next_token.tolist(), retrive_next_sibling.tolist(), strict=True
    )
    for number, (tokens, indices, children, siblings) in enumerate(trees):
        path = [0]
        while len(path) < most:
            slot = children[path[-1]]
            while slot != -1 and tokens[slot] != wants[indices[path[-1]]]:
                slot = siblings[slot]
            if slot == -1:
                break
            path.append(slot)
        reached = torch.tensor([indices[slot] for slot in path])
        predicts[reached] = target_predict.flatten()[reached].to(predicts.dtype)
        accept_index[number, : len(path)] = reached.to(accept_index.dtype)
        accept_token_num[number] = len(path) - 1


def fill_bonus_tokens_cpu(accepted: Tensor, counts: Tensor, out: Tensor, width: int) -> None:
    """The last accepted token of each request, of which each has `width` places."""
    last = accepted.view(-1, width).gather(1, counts.long().unsqueeze(1) - 1)
    out[: len(counts)] = last.squeeze(1).to(out.dtype)


def fill_accept_out_cache_loc_cpu(accept_index: Tensor, rows: Tensor, out: Tensor) -> None:
    """The cache rows of accepted slots, without gaps."""
    kept = rows[accept_index[accept_index >= 0].long()]
    out[: len(kept)] = kept.to(out.dtype)


def rotate_input_ids_cpu(tokens: Tensor, starts: Tensor, lengths: Tensor, newest: Tensor, places: Tensor | None = None) -> None:
    """Move each request's tokens one place forward, and put its newest token at the end, or at its place."""
    for number, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        if length > 0:
            end = start + length
            tokens[start : end - 1] = tokens[start + 1 : end].clone()
            tokens[end - 1 if places is None else places[number]] = newest.flatten()[number].to(tokens.dtype)
