"""One batch of training rows: what `batching` builds, the drafter reads and the loss counts.

Documents lie end to end without padding. M counts all rows of all documents, R the query rows (those that some label
needs), A the labels, K the steps of the training-time test.
"""

from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Batch:
    features: Tensor
    """[M, features · H_target]: the target's low, middle and high hidden states at the row's position."""
    tokens: Tensor
    """int64 [M]: the token after the row's position."""
    positions: Tensor
    """int64 [M]: the row's position in its document."""
    spans: tuple[tuple[int, int], ...]
    """First and one past the last row of each document."""
    query_rows: Tensor
    """int64 [R], ascending: rows on which work goes on after step 0's keys and values."""
    step_tokens: Tensor
    """int64 [K, R]: the input token of each query row at each step."""
    query_documents: Tensor
    """int64 [R]: index of the row's document in `names`."""
    label_rows: Tensor
    """int64 [K, A]: which query row predicts the label at step k; −1 where its chain would start before the document."""
    labels: Tensor
    """int64 [A]: the generated token."""
    teacher_states: Tensor
    """[A, H_target]: the target's last hidden state one position before the label, which predicts it."""
    argmax: Tensor | None
    """int64 [A]: the target's most likely token for the label's position, over its full vocabulary; None when not stored."""
    names: tuple[tuple[str, str], ...]
    """(dataset, prompt id) of each document."""

    @property
    def steps(self) -> int:
        return len(self.step_tokens)

    def to(self, device: torch.device) -> "Batch":
        """The same batch with its tensors on `device`."""
        moved: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            moved[field.name] = value.to(device) if isinstance(value, Tensor) else value
        return Batch(**moved)
