"""The learning rate: a linear warm-up, then a cosine, over the steps or over the minutes of a training."""

import math
from collections.abc import Callable

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from pipeline.training.config import OptimizerConfig


class Limits:
    """How much training there is: so many steps, or less when the minutes end first."""

    def __init__(self, *, steps: int, minutes: float = 0.0) -> None:
        self.steps = steps
        self._limit_s = 60 * minutes
        self.elapsed_s = 0.0
        """Of training, earlier attempts included, pauses not; the same in every process."""

    def progress(self, step: int) -> float:
        """Share of the training that is over once update number `step`, counted from 0, is done: at most 1."""
        by_steps = (step + 1) / self.steps
        return min(1.0, max(by_steps, self.elapsed_s / self._limit_s) if self._limit_s else by_steps)

    def reached(self, step: int) -> bool:
        """Whether nothing is left to do after `step` updates."""
        return step >= self.steps or bool(self._limit_s and self.elapsed_s >= self._limit_s)

    def expected_steps(self, step: int) -> int:
        """All steps of this training, as far as its pace tells by now."""
        if not self._limit_s or not step or not self.elapsed_s:
            return self.steps
        return max(step, min(self.steps, round(step * self._limit_s / self.elapsed_s)))

    def remaining_s(self, step: int, seconds_per_step: float) -> float:
        """Seconds to go at this pace."""
        by_steps = (self.steps - step) * seconds_per_step
        return max(0.0, min(by_steps, self._limit_s - self.elapsed_s) if self._limit_s else by_steps)


def factor(config: OptimizerConfig, progress: float) -> float:
    """What the learning rate is multiplied by. `progress`: share of the training, above 0 up to 1."""
    if progress < config.warmup_share:
        return progress / config.warmup_share
    over = (progress - config.warmup_share) / max(1e-12, 1 - config.warmup_share)
    return config.final_share + (1 - config.final_share) * (1 + math.cos(math.pi * over)) / 2


def make_schedule(optimizer: Optimizer, config: OptimizerConfig, limits: Limits) -> LambdaLR:
    rate: Callable[[int], float] = lambda step: factor(config, limits.progress(step))  # noqa: E731  (named for its type)
    return LambdaLR(optimizer, rate)
