"""The loop of a training: step, measure, save, stop. Every process runs it; the first one decides, tells and writes."""

from collections.abc import Callable
from pathlib import Path

from pipeline.batching import build_batch
from pipeline.errors import DataError
from pipeline.event import Event
from pipeline.stage import Outcome
from pipeline.training import saving
from pipeline.training.agreement import Agreement, Moment
from pipeline.training.assembly import Assembly
from pipeline.training.config import TrainConfig
from pipeline.training.hardware import peak_memory
from pipeline.training.measuring import Measuring
from pipeline.training.meter import Meter, Standing
from pipeline.training.pulse import Pulse
from pipeline.training.steering import Steering
from pipeline.training.stepping import NotFiniteError
from pipeline.training_state import DataPosition

NAMED = 8
"""Documents that an error names."""


class Trainer:
    def __init__(
        self, config: TrainConfig, parts: Assembly, *, emit: Callable[[Event], None], pulse: Pulse, steering: Steering
    ) -> None:
        self._config, self._parts, self._emit = config, parts, emit
        self._pulse, self._steering = pulse, steering
        self._position = parts.position
        self._saved_step = parts.position.step
        self._rate = 0.0
        self._measuring = Measuring(parts, emit=emit, pulse=pulse)
        self._agreement = Agreement(parts.world, parts.limits, steering, pulse, save_every_minutes=config.saving.every_minutes)
        objective = config.objective
        self._meter = Meter(steps=objective.steps, decay=objective.decay, limits=parts.limits, tokens=parts.position.tokens)

    def run(self) -> Outcome:
        """Train until the end or a stop. Raises DataError when a loss is not finite, DiskFullError."""
        self._pulse.tell("")
        moment = self._agree()
        while not (moment.stop or self._is_over()):
            self._step()
            moment = self._agree()
            if not (moment.stop or self._is_over()):
                self._measure_and_save_if_due(moment)
        self._tell_steps()
        if moment.stop:
            self._save()
            return Outcome(summary=self._summary(), interrupted=self._steering.stop_reason or "stopped")
        self._measuring.evaluate(self._position.step)
        self._measuring.decode(self._position.step)
        self._save()
        return Outcome(summary=self._summary())

    def _is_over(self) -> bool:
        return self._parts.limits.reached(self._position.step)

    def _agree(self) -> Moment:
        return self._agreement.now(around_pause=self._hold)

    def _step(self) -> None:
        parts, done = self._parts, self._position
        self._pulse.begin(f"step {done.step + 1}")
        group = parts.stream.take(done.step)
        mine = group.batches[parts.world.rank :: parts.world.size]
        batches = [build_batch(parts.corpus.source.load(indices), steps=group.steps) for indices in mine]
        self._rate = float(parts.scheduler.get_last_lr()[0])
        try:
            result = parts.stepper.step(batches)
        except NotFiniteError as error:
            named = self._names([index for batch in error.batches for index in group.batches[batch]])
            raise DataError(f"step {done.step + 1}: {error}, in the batch of {named}") from error
        parts.scheduler.step()
        tokens = sum(parts.corpus.tokens(indices) for indices in group.batches)
        self._position = DataPosition(epoch=group.epoch, batch=group.batch, step=done.step + 1, tokens=done.tokens + tokens)
        self._meter.add(result)
        if self._meter.is_due() or done.step == 0:
            self._tell_steps()

    def _measure_and_save_if_due(self, moment: Moment) -> None:
        step, evaluation = self._position.step, self._config.evaluation
        saves = moment.save or step % self._config.saving.every_steps == 0
        decodes = evaluation.decode_every_steps > 0 and step % evaluation.decode_every_steps == 0
        evaluates = saves or step % evaluation.every_steps == 0
        if not (evaluates or decodes):
            return
        self._hold()
        # A checkpoint is measured before it is saved: that is how the best one is known.
        if evaluates:
            self._measuring.evaluate(step)
        if decodes:
            self._measuring.decode(step)
        if saves:
            self._save()
        self._hold()

    def _save(self) -> None:
        """Write a checkpoint of this step, unless there is one."""
        step, parts = self._position.step, self._parts
        if self._saved_step == step:
            return
        self._pulse.begin("saving a checkpoint")
        parts.saver.save(
            parts.optimizer,
            parts.scheduler,
            self._position,
            elapsed_s=parts.limits.elapsed_s,
            metrics=self._measuring.at(step),
        )
        self._saved_step = step
        self._agreement.saved()

    def _hold(self) -> None:
        """Something else than steps takes time now: it counts for no step's pace."""
        self._tell_steps()
        self._meter.hold()

    def _tell_steps(self) -> None:
        if not self._meter.has_news:
            return
        standing = Standing(
            step=self._position.step,
            epoch=self._parts.stream.epochs_done,
            tokens=self._position.tokens,
            learning_rate=self._rate,
            memory_bytes=peak_memory(self._parts.world.device),
        )
        self._emit(self._meter.event(standing))

    def _names(self, documents: list[int]) -> str:
        names = self._parts.corpus.names(documents[:NAMED])
        more = f" and {len(documents) - NAMED} more" if len(documents) > NAMED else ""
        return f"{', '.join(names)}{more}"

    def _summary(self) -> dict[str, object]:
        position, limits = self._position, self._parts.limits
        best = saving.best_checkpoint(Path(self._config.checkpoints))
        return {
            "steps": position.step,
            "total_steps": limits.expected_steps(position.step),
            "tokens": position.tokens,
            "seconds": round(limits.elapsed_s, 1),
            "vocabulary_coverage": self._parts.start.coverage,
            "excluded": self._parts.corpus.source.excluded,
            "exclusion_list": self._config.exclusions.hash,
            "best": str(best) if best is not None else "",
            **self._measuring.newest,
        }
