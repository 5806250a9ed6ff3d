"""The loss of the training-time test: Σ_k decay^k · mean over the rows that count of the objective at step k.

Draft logits are [rows, N] for each of K steps, by far the largest thing in training. They exist for a few labels at a time:
the forward pass computes logits, losses and gradients of one chunk, adds the gradients up by hidden state and by head weight,
and lets the chunk go. A label has one teacher distribution for all K steps, so a chunk takes its K rows together.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx

from pipeline.errors import DataError
from pipeline.lean_ops import compute_dtype
from pipeline.model import Drafter
from pipeline.objectives import Objective
from pipeline.rows import Batch
from pipeline.teacher import Targets, Teacher

CHUNK_LOGITS = 1 << 22
"""Most draft logits that exist at once, all steps of a chunk of labels together."""


@dataclass(frozen=True, kw_only=True)
class StepLosses:
    """What one batch says. Only `loss` carries gradients."""

    loss: Tensor
    """Scalar to minimise."""
    sums: Tensor
    """float [K]: sum of the objective over the rows that count."""
    counted: Tensor
    """int64 [K]: these rows."""
    correct: Tensor
    """bool [K, R]: the drafter's best token is the target's best token."""
    supervised: Tensor
    """bool [K, R]: rows with a label, whether or not the loss counts them."""


class TrainingTimeTest(nn.Module):
    """Drafter and loss as one module, so that wrappers for data-parallel training see the whole forward pass."""

    def __init__(self, drafter: Drafter, teacher: Teacher, *, objective: Objective | None = None, decay: float = 0.8) -> None:
        super().__init__()
        self.drafter = drafter
        self._teacher = teacher
        self._objective = objective or Objective()
        self._decay = decay

    def forward(self, batch: Batch, targets: Targets, normalisers: Tensor | None = None) -> StepLosses:
        """`targets`: of the same batch, from the teacher.

        `normalisers`: [K], what to divide each step's sum by, when it is more than this batch's own `targets.counted`: the sum
        over accumulated batches, or over processes (divided by their number where gradients are averaged).
        """
        hidden = self.drafter(batch)  # [K, R, H]
        counts = targets.counted if normalisers is None else normalisers
        decay = self._decay ** torch.arange(batch.steps, dtype=torch.float64, device=hidden.device)
        return chunked_loss(
            hidden,
            self.drafter.lm_head.weight,
            targets,
            self._teacher.probabilities,
            self._objective,
            decay / counts.clamp(min=1),
        )


def chunked_loss(
    hidden: Tensor,
    head: Tensor,
    targets: Targets,
    probabilities: Callable[[Tensor], Tensor],
    objective: Objective,
    scale: Tensor,
) -> StepLosses:
    """Σ_k scale[k] · Σ_rows objective. hidden: [K, R, H], normed; head: [N, H]; `probabilities`: states [c, H] → p [c, N].

    Raises DataError when no row counts: the draft vocabulary holds none of the target's tokens.
    """
    if targets.label_rows.shape[1] == 0:
        raise DataError("no row of this batch counts: the target's tokens all lie outside the draft vocabulary")
    hidden = hidden.to(compute_dtype(hidden))
    loss, sums, hits = _ChunkedLoss.apply(hidden, head, targets, probabilities, objective, scale)  # type: ignore[no-untyped-call]
    correct = torch.zeros_like(targets.supervised)
    for step, rows in enumerate(targets.label_rows):
        correct[step, rows[rows >= 0]] = hits[step, rows >= 0]
    return StepLosses(loss=loss, sums=sums, counted=targets.counted, correct=correct, supervised=targets.supervised)


class _ChunkedLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: FunctionCtx,
        hidden: Tensor,
        head: Tensor,
        targets: Targets,
        probabilities: Callable[[Tensor], Tensor],
        objective: Objective,
        scale: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        steps, rows, _ = hidden.shape
        wide = torch.promote_types(hidden.dtype, torch.float32)
        weight = head.to(hidden.dtype)  # [N, H]
        flat = hidden.flatten(0, 1)  # [K·R, H]
        needs_gradient = any(ctx.needs_input_grad[:2])  # type: ignore[attr-defined]
        d_flat = torch.zeros_like(flat) if needs_gradient else None
        d_weight = torch.zeros_like(head, dtype=wide) if needs_gradient else None
        scale = scale.to(wide)
        sums = torch.zeros(steps, dtype=wide, device=hidden.device)
        hits = []
        width = max(1, CHUNK_LOGITS // (steps * len(head)))
        offsets = rows * torch.arange(steps, device=hidden.device)[:, None]
        for start in range(0, targets.label_rows.shape[1], width):
            labels = slice(start, start + width)
            places, counts = targets.label_rows[:, labels], targets.label_rows[:, labels] >= 0  # [K, c]
            index = (places.clamp(min=0) + offsets).flatten()  # [K·c]
            chunk = flat[index]  # [K·c, H]
            logits = (chunk @ weight.T).view(*places.shape, -1)  # [K, c, N]
            log_q = logits.to(wide).log_softmax(-1)
            hits.append((log_q.argmax(-1) == targets.tokens[labels]) & counts)
            value, d_logits = objective.value_and_gradient(log_q, probabilities(targets.states[labels]))
            sums += (value * counts).sum(1)
            if d_flat is None or d_weight is None:
                continue
            share = (scale[:, None] * counts).flatten()[:, None]  # [K·c, 1]
            d_logits = d_logits.to(hidden.dtype).flatten(0, 1)  # [K·c, N]
            d_flat.index_add_(0, index, ((d_logits @ weight) * share).to(flat.dtype))
            d_weight += d_logits.T @ (chunk * share).to(hidden.dtype)
        if d_flat is not None and d_weight is not None:
            ctx.save_for_backward(d_flat.view_as(hidden), d_weight.to(head.dtype))
        loss, hit = (scale * sums).sum(), torch.cat(hits, dim=1)
        ctx.mark_non_differentiable(sums, hit)
        return loss, sums, hit

    @staticmethod
    def backward(ctx: FunctionCtx, d_loss: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_head = ctx.saved_tensors  # type: ignore[attr-defined]
        return d_hidden * d_loss, d_head * d_loss, None, None, None, None
