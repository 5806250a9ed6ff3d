"""Measures the drafter on held-out answers while it is trained, and keeps what was measured at which step."""

import math
from collections.abc import Callable

from pipeline.drafter_events import DecodeEvalLogged, EvalLogged
from pipeline.errors import ConfigError, DataError
from pipeline.event import Event
from pipeline.events import Warned
from pipeline.model import Drafter
from pipeline.training import saving
from pipeline.training.assembly import Assembly
from pipeline.training.pulse import Pulse


class Measuring:
    def __init__(self, parts: Assembly, *, emit: Callable[[Event], None], pulse: Pulse) -> None:
        self._parts, self._emit, self._pulse = parts, emit, pulse
        self._can_decode = parts.decoder.prompts > 0
        self._step = -1
        self.newest: dict[str, float] = {}
        """As they were measured last."""

    def at(self, step: int) -> dict[str, float]:
        """What was measured at this very step."""
        return dict(self.newest) if self._step == step else {}

    def evaluate(self, step: int) -> None:
        """Teacher-forced; nothing when no document is held out. All processes call it together.

        Raises DataError when the loss is not finite: the weights are beyond use.
        """
        evaluator = self._parts.evaluator
        if not evaluator.documents:
            return
        found = evaluator.measure(self._parts.module, lambda: self._pulse.begin("measuring on held-out answers"))
        if not math.isfinite(found.loss):
            raise DataError(f"step {step}: the loss on held-out answers is NaN or infinite; this drafter is not saved")
        accept_length = found.acceptance.accept_length
        self._note(step, {saving.LOSS: found.loss, saving.SIMULATED: accept_length})
        self._emit(
            EvalLogged(
                step=step,
                loss=found.loss,
                accuracy=found.acceptance.accuracy,
                accept_length=accept_length,
                documents=found.documents,
                datasets={name: part.accept_length for name, part in found.datasets.items()},
            )
        )

    def decode(self, step: int) -> None:
        """Decode held-out prompts in the first process. All processes call it together.

        A target that cannot be loaded here is warned of once, and nothing is decoded any more.
        """
        if not self._can_decode:
            return
        world, drafter = self._parts.world, self._parts.saver.whole()
        try:
            if world.is_first:
                self._decode(step, drafter)
        except (ConfigError, DataError) as error:
            self._emit(Warned(text=f"held-out prompts are not decoded: {error}"))
            self._can_decode = False
        self._can_decode = bool(world.share([float(self._can_decode)])[0])

    def _decode(self, step: int, drafter: Drafter) -> None:
        found = self._parts.decoder.measure(drafter, lambda: self._pulse.begin("decoding held-out prompts"))
        self._note(step, {saving.DECODED: found.accept_length})
        self._emit(
            DecodeEvalLogged(
                step=step,
                accept_length=found.accept_length,
                prompts=found.prompts,
                tokens=found.tokens,
                datasets=found.datasets,
            )
        )

    def _note(self, step: int, metrics: dict[str, float]) -> None:
        self.newest = self.at(step) | metrics
        self._step = step
