"""The loss of the training-time test: Σ_k decay^k · mean over the rows that count of the objective at step k.

Draft logits are [rows, N] for each of K steps, by far the largest thing in training. They exist for a few labels at a time:
the forward pass computes logits, losses and gradients of one chunk, adds the gradients up by hidden state and by head weight,
and lets the chunk go. A label has one teacher distribution for all K steps, so a chunk takes its K rows together.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx

from pipeline.errors import DataError
from pipeline.lean_ops import compute_dtype, product_by_rows
from pipeline.model import Drafter
from pipeline.objectives import Drafted, Objective
from pipeline.rows import Batch
from pipeline.teacher import Targets, Teacher

CHUNK_LOGITS = 1 << 24
"""Most draft logits that exist at once, all steps of a chunk of labels together."""

CACHE_LOGITS = 1 << 19
"""Of these, how many float32 ones and a copy fit into a CPU core's cache."""


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
            self._teacher,
            self._objective,
            decay / counts.clamp(min=1),
        )


def chunked_loss(
    hidden: Tensor,
    head: Tensor,
    targets: Targets,
    teacher: Teacher,
    objective: Objective,
    scale: Tensor,
) -> StepLosses:
    """Σ_k scale[k] · Σ_rows objective. hidden: [K, R, H], normed; head: [N, H].

    Raises DataError when no row counts: the draft vocabulary holds none of the target's tokens.
    """
    if targets.label_rows.shape[1] == 0:
        raise DataError("no row of this batch counts: the target's tokens all lie outside the draft vocabulary")
    hidden = hidden.to(compute_dtype(hidden))
    # Autocast would compute the losses, too, in half precision.
    with torch.autocast(hidden.device.type, enabled=False):
        loss, sums, hits = _ChunkedLoss.apply(  # type: ignore[no-untyped-call]
            torch.is_grad_enabled(), hidden, head, targets, teacher, objective, scale
        )
    correct = torch.zeros_like(targets.supervised)
    for step, rows in enumerate(targets.label_rows):
        correct[step, rows[rows >= 0]] = hits[step, rows >= 0]
    return StepLosses(loss=loss, sums=sums, counted=targets.counted, correct=correct, supervised=targets.supervised)


class _ChunkedLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: FunctionCtx,
        with_gradient: bool,
        hidden: Tensor,
        head: Tensor,
        targets: Targets,
        teacher: Teacher,
        objective: Objective,
        scale: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        steps, rows, _ = hidden.shape
        wide = torch.promote_types(hidden.dtype, torch.float32)
        weight, flat = head.to(hidden.dtype), hidden.flatten(0, 1)  # [N, H], [K·R, H]
        # The head's gradient is summed up transposed: so the small factor of each product is the one to be reordered.
        d_flat, d_columns = torch.zeros_like(flat), head.new_zeros(head.shape[::-1], dtype=wide)  # [K·R, H], [H, N]
        losses, hits = [], []
        offsets = rows * torch.arange(steps, device=hidden.device)
        width = max(1, CHUNK_LOGITS // (steps * len(head)))
        for places, tokens, states in zip(
            *(torch.split(tensor, width) for tensor in (targets.label_rows.T, targets.tokens, targets.states)), strict=True
        ):
            index = (places.clamp(min=0) + offsets).flatten()  # [c·K]
            chunk = flat[index]  # [c·K, H]
            logits = (chunk @ weight.T).view(*places.shape, -1)  # [c, K, N]
            loss, hit = _in_tiles(logits, teacher.draft_logits(states), tokens, objective)
            losses.append(loss)
            hits.append(hit)
            if with_gradient:
                share = (scale.to(wide) * (places >= 0)).reshape(-1, 1)  # [c·K, 1]
                d_logits = logits.flatten(0, 1)  # [c·K, N], overwritten by its gradient
                d_flat.index_add_(0, index, ((d_logits @ weight) * share).to(flat.dtype))
                d_columns += product_by_rows((chunk * share).to(hidden.dtype), d_logits)
        counts = targets.label_rows >= 0  # [K, A']
        sums = (torch.cat(losses).T * counts).sum(1)
        ctx.save_for_backward(d_flat.view_as(hidden), d_columns.T.to(head.dtype))
        correct = torch.cat(hits).T & counts
        ctx.mark_non_differentiable(sums, correct)
        return (scale.to(wide) * sums).sum(), sums, correct

    @staticmethod
    def backward(ctx: FunctionCtx, d_loss: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_head = ctx.saved_tensors  # type: ignore[attr-defined]
        return None, d_hidden * d_loss, d_head * d_loss, None, None, None, None


def _in_tiles(logits: Tensor, teacher_logits: Tensor, tokens: Tensor, objective: Objective) -> tuple[Tensor, Tensor]:
    """Losses and hits, [c, K] each, of logits [c, K, N], which are overwritten by the gradient of their own row's loss.

    The elementwise work runs on tiles that stay in a CPU core's cache: passes over whole chunks would wait for memory.
    """
    wide = torch.promote_types(logits.dtype, torch.float32)
    tile = len(logits) if logits.is_cuda else max(1, CACHE_LOGITS // logits[0].numel())
    losses, hits = [], []
    for part, taught, best in zip(*(torch.split(x, tile) for x in (logits, teacher_logits, tokens)), strict=True):
        drafted = Drafted.of(part.to(wide))  # [t, K, N]
        hits.append(drafted.best == best[:, None])
        p = taught.to(wide).softmax(-1)[:, None]  # [t, 1, N]
        loss, gradient = objective.value_and_gradient(drafted, p)
        losses.append(loss)
        part.copy_(gradient)
    return torch.cat(losses), torch.cat(hits)
