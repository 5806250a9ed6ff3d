"""Batches in their order, epoch after epoch, from any position on: every process meets the same order and takes its share."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.ordering import plan_batches
from pipeline.training.config import TrainConfig


@dataclass(frozen=True, kw_only=True)
class Group:
    """The batches of one optimizer step, of all processes and accumulations together."""

    batches: tuple[tuple[int, ...], ...]
    """Documents of each."""
    steps: int
    """Of the training-time test: K, or 1."""
    epoch: int
    """Of the batch after this group, with `batch`: where the data goes on."""
    batch: int


class BatchStream:
    def __init__(self, config: TrainConfig, lengths: Sequence[int], *, group: int, epoch: int = 0, batch: int = 0) -> None:
        """`lengths`: of all documents, 0 for those left out. `group`: batches of one optimizer step.

        `epoch` and `batch` say where to begin. Raises DataError when all are left out.
        """
        self._config, self._lengths, self._group = config, lengths, group
        self._epoch, self._batch = epoch, batch
        self._plan = self._planned(epoch)

    def total_steps(self) -> int:
        """Optimizer steps of this training, as its config limits them by number."""
        if self._config.max_steps:
            return self._config.max_steps
        batches = sum(len(self._planned(epoch)) for epoch in range(self._config.epochs))
        return -(-batches // self._group)

    def take(self, step: int) -> Group:
        """The batches of optimizer step number `step`, counted from 0."""
        taken = []
        for _ in range(self._group):
            if self._batch == len(self._plan):
                self._epoch, self._batch = self._epoch + 1, 0
                self._plan = self._planned(self._epoch)
            taken.append(tuple(self._plan[self._batch]))
            self._batch += 1
        return Group(batches=tuple(taken), steps=self._depth(step), epoch=self._epoch, batch=self._batch)

    @property
    def epochs_done(self) -> float:
        return self._epoch + self._batch / len(self._plan)

    def _depth(self, step: int) -> int:
        """A function of seed and step alone, so that all processes and a resumed run agree."""
        objective = self._config.objective
        chance = random.Random(f"{self._config.seed}:one step:{step}").random()  # noqa: S311  (a mix, not a secret)
        return 1 if chance < objective.one_step_share else objective.steps

    def _planned(self, epoch: int) -> list[list[int]]:
        config = self._config
        return plan_batches(self._lengths, tokens_per_batch=config.tokens_per_batch, seed=config.seed, epoch=epoch)
