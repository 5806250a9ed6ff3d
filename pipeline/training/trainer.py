"""The loop of a training: step, measure, save, stop. Every process runs it; the first one decides, tells and writes."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pipeline.batching import build_batch
from pipeline.drafter_events import EvalLogged
from pipeline.errors import DataError
from pipeline.event import Event
from pipeline.stage import Outcome
from pipeline.training import saving
from pipeline.training.assembly import Assembly
from pipeline.training.config import TrainConfig
from pipeline.training.hardware import peak_memory
from pipeline.training.meter import Meter, Standing
from pipeline.training.pulse import Pulse
from pipeline.training.steering import Steering
from pipeline.training.stepping import NotFiniteError
from pipeline.training_state import DataPosition

PAUSE_S = 0.2
STEP_PATIENCE_S = 900.0
NAMED = 8
"""Documents that an error names."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What all processes agree on between two steps."""

    stop: bool
    save: bool
    """The minutes since the last checkpoint are over."""


class Trainer:
    def __init__(
        self, config: TrainConfig, assembly: Assembly, *, emit: Callable[[Event], None], pulse: Pulse, steering: Steering
    ) -> None:
        self._config, self._parts, self._emit = config, assembly, emit
        self._pulse, self._steering = pulse, steering
        self._position = assembly.position
        self._saved_step: int | None = assembly.position.step or None
        self._metrics: dict[str, float] = {}
        """As they were measured last."""
        self._rate = 0.0
        self._measured_step = -1
        objective = config.objective
        self._meter = Meter(
            steps=objective.steps, decay=objective.decay, limits=assembly.limits, tokens=assembly.position.tokens
        )
        self._resumed_at = self._saved_at = time.monotonic()
        self._earlier_s = assembly.limits.elapsed_s

    def run(self) -> Outcome:
        """Train until the end or a stop. Raises DataError when a loss is not finite, DiskFullError."""
        limits = self._parts.limits
        moment = self._agree()
        while not (moment.stop or limits.reached(self._position.step)):
            self._step()
            moment = self._agree()
            if not (moment.stop or limits.reached(self._position.step)):
                self._measure_and_save_if_due(moment)
        self._tell_steps()
        if moment.stop:
            self._save()
            return Outcome(summary=self._summary(), interrupted=self._steering.stop_reason or "stopped")
        self._evaluate()
        self._save()
        return Outcome(summary=self._summary())

    def _step(self) -> None:
        parts, done = self._parts, self._position
        self._pulse.begin(f"step {done.step + 1}", patience_s=STEP_PATIENCE_S)
        group = parts.stream.take(done.step)
        mine = group.batches[parts.world.rank :: parts.world.size]
        batches = [build_batch(parts.corpus.source.load(indices), steps=group.steps) for indices in mine]
        try:
            result = parts.stepper.step(batches)
        except NotFiniteError as error:
            named = [group.batches[index] for index in error.batches]
            raise DataError(f"step {done.step + 1}: {error}, in the batch of {self._names(named)}") from error
        self._rate = float(parts.scheduler.get_last_lr()[0])
        parts.scheduler.step()
        tokens = sum(parts.corpus.tokens(indices) for indices in group.batches)
        self._position = DataPosition(epoch=group.epoch, batch=group.batch, step=done.step + 1, tokens=done.tokens + tokens)
        self._meter.add(result)
        if self._meter.is_due() or done.step == 0:
            self._tell_steps()

    def _measure_and_save_if_due(self, moment: Moment) -> None:
        step, evaluation = self._position.step, self._config.evaluation
        saves = moment.save or step % self._config.saving.every_steps == 0
        if saves or step % evaluation.every_steps == 0:
            self._evaluate()
        if saves:
            self._save()

    def _evaluate(self) -> None:
        """Measure once a step at most; does nothing when no document is held out."""
        step, evaluator = self._position.step, self._parts.evaluator
        if not evaluator.documents or self._measured_step == step:
            return
        self._tell_steps()
        found = evaluator.measure(self._parts.module, lambda: self._pulse.begin("measuring on held-out answers"))
        accept_length = found.acceptance.accept_length
        self._metrics |= {saving.LOSS: found.loss, saving.SIMULATED: accept_length}
        self._measured_step = step
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
        self._meter.hold()

    def _save(self) -> None:
        """Write a checkpoint, once a step at most; its metrics are those that were measured at this very step."""
        if self._saved_step == self._position.step:
            return
        self._tell_steps()
        self._pulse.begin("saving a checkpoint")
        parts = self._parts
        parts.saver.save(
            parts.optimizer,
            parts.scheduler,
            self._position,
            elapsed_s=parts.limits.elapsed_s,
            metrics=self._metrics if self._measured_step == self._position.step else {},
        )
        self._saved_step, self._saved_at = self._position.step, time.monotonic()
        self._meter.hold()

    def _agree(self) -> Moment:
        """Hear what was asked for, and let all processes know the same. Waits here while paused."""
        world, limits = self._parts.world, self._parts.limits
        paused_since: float | None = None
        while True:
            self._steering.obey()
            now = time.monotonic()
            minutes = self._config.saving.every_minutes
            wishes = [
                self._steering.stop_reason is not None,
                self._steering.paused,
                bool(minutes) and now - self._saved_at >= 60 * minutes,
                self._earlier_s + (paused_since or now) - self._resumed_at,
            ]
            stop, paused, save, limits.elapsed_s = world.share([float(wish) for wish in wishes])
            if stop or not paused:
                break
            if paused_since is None:
                paused_since = now
                self._tell_steps()
                self._pulse.tell("paused", paused=True)
            self._pulse.begin("paused")
            time.sleep(PAUSE_S)
        if paused_since is not None:
            # Time stands still during a pause: for the limit in minutes, for the learning rate, for the pace.
            self._resumed_at += time.monotonic() - paused_since
            self._meter.hold()
        self._pulse.tell("")
        return Moment(stop=bool(stop), save=bool(save))

    def _tell_steps(self) -> None:
        if not self._meter.has_news:
            return
        position = self._position
        self._emit(
            self._meter.event(
                Standing(
                    step=position.step,
                    epoch=self._parts.stream.epochs_done,
                    tokens=position.tokens,
                    learning_rate=self._rate,
                    memory_bytes=peak_memory(self._parts.world.device),
                )
            )
        )

    def _names(self, batches: list[tuple[int, ...]]) -> str:
        names = self._parts.corpus.names([index for batch in batches for index in batch])
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return f"{', '.join(names[:NAMED])}{more}"

    def _summary(self) -> dict[str, object]:
        position, limits = self._position, self._parts.limits
        best = saving.best_checkpoint(Path(self._config.checkpoints))
        return {
            "steps": position.step,
            "total_steps": limits.expected_steps(position.step),
            "tokens": position.tokens,
            "seconds": round(limits.elapsed_s, 1),
            "vocabulary_coverage": self._parts.start.coverage,
            "best": str(best) if best is not None else "",
            **self._metrics,
        }
