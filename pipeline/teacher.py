"""What the drafter is taught: the target's next-token distribution, restricted to the draft vocabulary.

Logits over the full vocabulary exist for a chunk of labels at a time, and only to find the most likely token; the
distribution comes from the head's rows of the draft vocabulary alone.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from pipeline.lean_ops import argmax, rms_norm
from pipeline.rows import Batch
from pipeline.vocab import DraftVocabulary

CHUNK_LOGITS = 3 << 22
"""Most full-vocabulary logits that exist at once."""

CACHE_LOGITS = 1 << 18
"""Of these, how many float32 ones stay in a CPU core's cache while their maximum is searched."""


@dataclass(frozen=True, kw_only=True)
class Targets:
    """The labels that count, A' of the batch's A: those whose most likely token the drafter can propose."""

    states: Tensor
    """[A', H]: the target's last hidden states, after its final norm."""
    tokens: Tensor
    """int64 [A']: draft id of the target's most likely token."""
    label_rows: Tensor
    """int64 [K, A']: which query row predicts the label at each step, or −1."""
    counted: Tensor
    """int64 [K]: rows that the loss of each step counts."""
    supervised: Tensor
    """bool [K, R]: rows with a label at each step, also those that the loss drops: there every draft is a miss."""


@dataclass(frozen=True, kw_only=True)
class FinalNorm:
    """The target's last RMSNorm, for states that were stored before it."""

    weight: Tensor
    """[H]; where a family stores w for a factor of 1 + w, the sum."""
    eps: float


class Teacher:
    """Turns stored hidden states into targets. Holds only the rows of the head that it needs."""

    def __init__(
        self, head: Tensor, vocabulary: DraftVocabulary, *, norm: FinalNorm | None = None, logit_softcap: float | None = None
    ) -> None:
        """head: [V, H], in the dtype in which logits are to be computed. `norm` None: the states are already normed."""
        vocabulary.require_size(draft=len(vocabulary.token_ids), target=len(head))
        self._head = head
        self._draft_head = head[vocabulary.token_ids]
        self._draft_ids = vocabulary.draft_ids
        self._norm = norm
        self._softcap = logit_softcap

    @torch.no_grad()
    def targets(self, batch: Batch) -> Targets:
        """The labels of a batch that count. Computed in the head's dtype, inside autocast too."""
        with torch.autocast(batch.features.device.type, enabled=False):
            return self._targets(batch)

    def _targets(self, batch: Batch) -> Targets:
        states = self._normed(batch.teacher_states)
        best = self.best_tokens(states) if batch.argmax is None else batch.argmax
        tokens = self._draft_ids[best]
        kept = tokens >= 0
        label_rows = batch.label_rows[:, kept]
        supervised = torch.zeros_like(batch.step_tokens, dtype=torch.bool)
        for step, rows in enumerate(batch.label_rows):
            supervised[step, rows[rows >= 0]] = True
        return Targets(
            states=states[kept],
            tokens=tokens[kept],
            label_rows=label_rows,
            counted=(label_rows >= 0).sum(1),
            supervised=supervised,
        )

    def best_tokens(self, states: Tensor) -> Tensor:
        """The most likely token over the full vocabulary, int64 [rows]. states: [rows, H], normed."""
        wide = torch.promote_types(self._head.dtype, torch.float32)
        best = []
        for chunk in torch.split(states, max(1, CHUNK_LOGITS // len(self._head))):
            logits = chunk.to(self._head.dtype) @ self._head.T  # [rows, V]
            tile = len(logits) if logits.is_cuda else max(1, CACHE_LOGITS // len(self._head))
            best += [argmax(part.to(wide)) for part in torch.split(logits, tile)]
        return torch.cat(best)

    def draft_logits(self, states: Tensor) -> Tensor:
        """Logits of the draft vocabulary, [rows, N]. states: [rows, H], normed."""
        logits = states.to(self._draft_head.dtype) @ self._draft_head.T
        return logits if self._softcap is None else logits.div_(self._softcap).tanh_().mul_(self._softcap)

    def _normed(self, states: Tensor) -> Tensor:
        if self._norm is None:
            return states
        return rms_norm(states.to(self._head.dtype), self._norm.weight, self._norm.eps)
