"""From documents to training rows: where every off-by-one of EAGLE-3 is decided.

A document of T tokens gives rows p = 0 … T−2. With T = 7 and an answer of ids 3 … 6, at step 0:

    row p                        0    1    2    3    4    5
    feature h[p]                h0   h1   h2   h3   h4   h5
    input token id[p+1]        id1  id2  id3  id4  id5  id6
    teacher: logits at p+1      l1   l2   l3   l4   l5    –
    label: token p+2           id2  id3  id4  id5  id6    –
    trains (label generated)     –    ✓    ✓    ✓    ✓    –

At step k the input token, the teacher and the label move on by k and the row stays, as its hidden state is now its own
output. For k = 1:

    input token id[p+2]        id2  id3  id4  id5  id6    –
    teacher: logits at p+2      l2   l3   l4   l5    –    –
    label: token p+3           id3  id4  id5  id6    –    –
    trains                       ✓    ✓    ✓    ✓    –    –

Seen from a label at t: the row t−2−k predicts it at step k, and the teacher is the target's state at t−1. So each label has
one teacher distribution for all steps, and the last token is the last label: nothing past the end is ever learned.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pipeline.errors import DataError
from pipeline.rows import Batch


@dataclass(frozen=True, kw_only=True)
class Document:
    """One conversation with the hidden states that its target had."""

    token_ids: Tensor
    """int64 [T]."""
    loss_mask: Tensor
    """bool [T]: the token was generated."""
    features: Tensor
    """[T, features · H_target]."""
    last_hidden: Tensor
    """[T, H_target]: before or after the final norm, as the shards' manifest says."""
    argmax: Tensor | None = None
    """int64 [T]: the target's most likely next token at each position; −1 where the next token was not generated."""
    dataset: str = ""
    name: str = ""
    """Prompt id."""

    def __post_init__(self) -> None:
        lengths = {"token_ids": len(self.token_ids), "loss_mask": len(self.loss_mask), "features": len(self.features)}
        lengths |= {"last_hidden": len(self.last_hidden)}
        lengths |= {"argmax": len(self.argmax)} if self.argmax is not None else {}
        if len(set(lengths.values())) != 1:
            raise DataError(f"document {self.name!r}: lengths disagree: {lengths}")


def label_positions(loss_mask: Tensor) -> Tensor:
    """Positions of the tokens that can be labels, int64: generated ones, from the third token on."""
    return loss_mask[2:].nonzero().flatten() + 2


def build_batch(documents: Sequence[Document], *, steps: int) -> Batch:
    """Pack documents into one batch for a training-time test of `steps` steps.

    Documents without a label are left out. Raises DataError when none has one.
    """
    pieces = []
    row_offset = query_offset = 0
    for document in documents:
        if len(label_positions(document.loss_mask)) == 0:
            continue
        pieces.append(_rows_of(document, steps, row_offset, query_offset))
        row_offset += len(document.token_ids) - 1
        query_offset += len(pieces[-1].query_rows)
    if not pieces:
        names = ", ".join(document.name for document in documents[:5])
        raise DataError(f"no token of these documents is supervised (the loss mask is zero everywhere): {names}")
    return Batch(
        features=torch.cat([piece.features for piece in pieces]),
        tokens=torch.cat([piece.tokens for piece in pieces]),
        positions=torch.cat([piece.positions for piece in pieces]),
        spans=tuple(span for piece in pieces for span in piece.spans),
        query_rows=torch.cat([piece.query_rows for piece in pieces]),
        step_tokens=torch.cat([piece.step_tokens for piece in pieces], dim=1),
        query_documents=torch.cat([piece.query_documents + index for index, piece in enumerate(pieces)]),
        label_rows=torch.cat([piece.label_rows for piece in pieces], dim=1),
        labels=torch.cat([piece.labels for piece in pieces]),
        teacher_states=torch.cat([piece.teacher_states for piece in pieces]),
        argmax=_join([piece.argmax for piece in pieces]),
        names=tuple(name for piece in pieces for name in piece.names),
    )


def _join(parts: Sequence[Tensor | None]) -> Tensor | None:
    """One tensor when every document stored it, else None: the teacher computes it again for all."""
    present = [part for part in parts if part is not None]
    return torch.cat(present) if len(present) == len(parts) else None


def _rows_of(document: Document, steps: int, row_offset: int, query_offset: int) -> Batch:
    """One document's batch; its rows are counted from `row_offset`, its query rows from `query_offset`."""
    ids = document.token_ids
    rows = len(ids) - 1
    labels = label_positions(document.loss_mask)  # [A]
    chain_rows = labels - 2 - torch.arange(steps)[:, None]  # [K, A], negative before the document
    starts_inside = chain_rows >= 0

    needed = torch.zeros(rows, dtype=torch.bool)
    needed[chain_rows[starts_inside]] = True
    query_rows = needed.nonzero().flatten()  # [R]
    place = needed.cumsum(0) - 1  # [rows]: where a needed row stands among the query rows
    label_rows = torch.where(starts_inside, place[chain_rows.clamp(min=0)] + query_offset, -1)

    # Past the end any token will do: no label ever stands there.
    inputs = (query_rows + 1 + torch.arange(steps)[:, None]).clamp(max=rows)  # [K, R]
    return Batch(
        features=document.features[:rows],
        tokens=ids[1:],
        positions=torch.arange(rows),
        spans=((row_offset, row_offset + rows),),
        query_rows=query_rows + row_offset,
        step_tokens=ids[inputs],
        query_documents=torch.zeros(len(query_rows), dtype=torch.int64),
        label_rows=label_rows,
        labels=ids[labels],
        teacher_states=document.last_hidden[labels - 1],
        argmax=None if document.argmax is None else document.argmax[labels - 1],
        names=((document.dataset, document.name),),
    )
