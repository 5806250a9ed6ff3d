"""One optimizer step: forward and backward over the batches of this process, sums over all of them, clip, update."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW, Optimizer

from pipeline.errors import DataError
from pipeline.loss import TrainingTimeTest
from pipeline.rows import Batch
from pipeline.teacher import Targets, Teacher
from pipeline.training.config import OptimizerConfig
from pipeline.training.parallel import World, gradients_synced

Result = tuple[Tensor, Tensor, Tensor, Tensor]
"""Loss, and by step [K]: objective's sums, hits, rows with a label."""


class TrainingModule(nn.Module):
    """What wrappers for several processes call: tensors come out, also of a batch of which nothing counts."""

    def __init__(self, test: TrainingTimeTest) -> None:
        super().__init__()
        self.test = test

    def forward(self, batch: Batch, targets: Targets, normalisers: Tensor) -> Result:
        rows = targets.supervised.sum(1)
        if targets.label_rows.shape[1]:
            found = self.test(batch, targets, normalisers)
            return found.loss, found.sums, (found.correct & found.supervised).sum(1), rows
        # All tokens lie outside the draft vocabulary. Other processes wait for these gradients, zeros or not.
        hidden = self.test.drafter(batch)
        nothing = hidden.sum() * 0 + self.test.drafter.lm_head.weight.sum() * 0
        return nothing, nothing.detach().expand(batch.steps), rows * 0, rows


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """Of one optimizer step, over all processes. Tuples are indexed by step of the training-time test."""

    sums: tuple[float, ...]
    """Of the objective over the rows that count."""
    counted: tuple[int, ...]
    hits: tuple[int, ...]
    rows: tuple[int, ...]
    grad_norm: float
    """Before clipping."""


class NotFiniteError(DataError):
    """A loss or a gradient is NaN or infinite; nothing was updated."""

    def __init__(self, what: str, batches: tuple[int, ...]) -> None:
        super().__init__(f"{what} is NaN or infinite")
        self.batches = batches
        """Which of the step's batches gave it, those of all processes counted in turn; all, where it cannot be told."""


class Stepper:
    def __init__(
        self,
        module: nn.Module,
        teacher: Teacher,
        optimizer: Optimizer,
        world: World,
        *,
        precision: torch.dtype,
        clip: float,
    ) -> None:
        self._module, self._teacher, self._optimizer = module, teacher, optimizer
        self._world, self._precision, self._clip = world, precision, clip

    def step(self, batches: Sequence[Batch]) -> StepResult:
        """One update from this process's batches, as many as every other process has. Raises NotFiniteError."""
        world = self._world
        moved = [batch.to(world.device) for batch in batches]
        taught = [self._teacher.targets(batch) for batch in moved]
        counted = world.sum(torch.stack([targets.counted for targets in taught]).sum(0))
        # Wrappers average gradients over processes, so each one divides by its share of the rows that count.
        normalisers = counted.to(world.device) / world.size

        told = []
        for index, (batch, targets) in enumerate(zip(moved, taught, strict=True)):
            with gradients_synced(self._module, index == len(moved) - 1):
                with autocast(world.device, self._precision):
                    loss, *counts = self._module(batch, targets, normalisers)
                torch.autograd.backward(loss)
            told.append(torch.stack([tensor.detach().double() for tensor in counts]))
        sums = self._gather(torch.stack(told))  # [batches of all processes, 3, K]
        broken = (~torch.isfinite(sums)).flatten(1).any(1).nonzero().flatten().tolist()
        if broken:
            self._give_up("the loss", tuple(broken))
        norm = self._clipped()
        if not math.isfinite(norm):
            self._give_up("the gradient", tuple(range(len(sums))))
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        objective, hits, rows = sums.sum(0).tolist()
        return StepResult(
            sums=tuple(objective),
            counted=tuple(counted.tolist()),
            hits=tuple(map(round, hits)),
            rows=tuple(map(round, rows)),
            grad_norm=norm,
        )

    def _gather(self, told: Tensor) -> Tensor:
        """Every process's batches beside each other, in the order of the stream: process r has every size-th from r on."""
        world = self._world
        places = told.new_zeros((len(told) * world.size, *told.shape[1:]))
        places[world.rank :: world.size] = told
        return world.sum(places)

    def _clipped(self) -> float:
        norm = clip_grad_norm_(self._module.parameters(), self._clip if self._clip > 0 else math.inf)
        return float(norm.full_tensor() if isinstance(norm, DTensor) else norm)

    def _give_up(self, what: str, batches: tuple[int, ...]) -> None:
        self._optimizer.zero_grad(set_to_none=True)
        raise NotFiniteError(what, batches)


def autocast(device: torch.device, precision: torch.dtype) -> torch.autocast:
    """Around the forward pass alone."""
    return torch.autocast(device.type, dtype=precision, enabled=precision != torch.float32)


def make_optimizer(module: nn.Module, config: OptimizerConfig) -> AdamW:
    """AdamW over what is trained; norms' factors are not decayed."""
    matrices = [parameter for parameter in module.parameters() if parameter.requires_grad and parameter.dim() > 1]
    factors = [parameter for parameter in module.parameters() if parameter.requires_grad and parameter.dim() == 1]
    groups = [
        {"params": matrices, "weight_decay": config.weight_decay},
        {"params": factors, "weight_decay": 0.0},
    ]
    return AdamW(groups, lr=config.learning_rate, betas=(config.beta1, config.beta2), fused=True)
