"""Adds optimizer steps up until they are told: at most twice a second, as one event with their means."""

import time
from dataclasses import dataclass

from pipeline.drafter_events import StepLogged
from pipeline.training.schedule import Limits
from pipeline.training.stepping import StepResult

EVERY_S = 0.5
PACE = 0.1
"""Weight of the newest step in the running mean of seconds a step."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where the training stands after a step."""

    step: int
    epoch: float
    tokens: int
    learning_rate: float
    memory_bytes: int


class Meter:
    def __init__(self, *, steps: int, decay: float, limits: Limits, tokens: int = 0) -> None:
        """`steps`: K. `tokens`: seen before, in earlier attempts."""
        self._decay, self._limits = decay, limits
        self._losses, self._accuracy = [0.0] * steps, [0.0] * steps
        self._known = 0
        """Steps of the training-time test that have been measured: a mix may begin with one-step batches."""
        self._clear()
        self._told, self._told_tokens = time.monotonic(), tokens
        self._last: float | None = None
        self.seconds_per_step = 0.0

    def add(self, result: StepResult) -> None:
        now = time.monotonic()
        took = now - (self._last if self._last is not None else self._told)
        self._last = now
        self.seconds_per_step += (took - self.seconds_per_step) * (PACE if self.seconds_per_step else 1.0)
        for k in range(len(result.sums)):
            self._sums[k] += result.sums[k]
            self._counted[k] += result.counted[k]
            self._hits[k] += result.hits[k]
            self._rows[k] += result.rows[k]
        self._norms.append(result.grad_norm)

    def hold(self) -> None:
        """Something else than steps takes time now: it counts for no step's pace."""
        self._last = None
        self._told = time.monotonic()

    @property
    def has_news(self) -> bool:
        return bool(self._norms)

    def is_due(self) -> bool:
        return self.has_news and time.monotonic() - self._told >= EVERY_S

    def event(self, standing: Standing) -> StepLogged:
        """The mean over all steps since the last call. A step k that none of them had keeps its last value."""
        for k, counted in enumerate(self._counted):
            if self._rows[k]:
                self._accuracy[k] = self._hits[k] / self._rows[k]
                self._losses[k] = self._sums[k] / counted if counted else self._losses[k]
                self._known = max(self._known, k + 1)
        now = time.monotonic()
        known = self._losses[: self._known]
        told = StepLogged(
            step=standing.step,
            total_steps=self._limits.expected_steps(standing.step),
            epoch=round(standing.epoch, 4),
            loss=sum(self._decay**k * loss for k, loss in enumerate(known)),
            step_losses=tuple(known),
            accuracy=tuple(self._accuracy[: self._known]),
            learning_rate=standing.learning_rate,
            grad_norm=sum(self._norms) / len(self._norms),
            tokens=standing.tokens,
            tokens_per_s=(standing.tokens - self._told_tokens) / max(1e-9, now - self._told),
            memory_bytes=standing.memory_bytes,
            eta_s=self._limits.remaining_s(standing.step, self.seconds_per_step),
        )
        self._clear()
        self._told, self._told_tokens = now, standing.tokens
        return told

    def _clear(self) -> None:
        steps = len(self._losses)
        self._sums, self._counted, self._hits, self._rows = [0.0] * steps, [0] * steps, [0] * steps, [0] * steps
        self._norms: list[float] = []
