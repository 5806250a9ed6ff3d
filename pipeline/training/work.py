"""One process's whole training, from joining the others to its outcome."""

import logging
from collections.abc import Callable
from pathlib import Path

from pipeline.config import to_mapping
from pipeline.control import ControlReader
from pipeline.event import Event
from pipeline.events import Warned
from pipeline.stage import Outcome, Stage
from pipeline.training.assembly import assemble, held
from pipeline.training.config import TrainConfig
from pipeline.training.logbook import open_logbook
from pipeline.training.parallel import joined
from pipeline.training.pulse import Pulse
from pipeline.training.steering import Steering
from pipeline.training.trainer import Trainer

LOADING_PATIENCE_S = 3600.0
log = logging.getLogger(__name__)


class Silence:
    """Stands where the first process has its Stage: the others neither tell nor tick."""

    def emit(self, event: Event) -> None:
        pass

    def tick(self, waiting_for: str = "") -> None:
        pass


def train_first(config: TrainConfig, stage: Stage) -> Outcome:
    """Of the process that tells and writes. Raises PipelineError and OSError when it cannot go on."""
    return _train(config, stage, stage.control, stage.watchers.append)


def train_along(config: TrainConfig) -> Outcome:
    """Of every other process."""
    return _train(config, Silence(), None, lambda watcher: None)


def _train(
    config: TrainConfig,
    stage: Stage | Silence,
    control: ControlReader | None,
    watch: Callable[[Callable[[Event], None]], None],
) -> Outcome:
    def warn(text: str) -> None:
        stage.emit(Warned(text=text))

    with (
        Steering(control, warn=warn) as steering,
        Pulse(stage) as pulse,
        joined(config.device, config.devices) as world,
        held(Path(config.checkpoints), world, warn=warn),
    ):

        def on_part(words: str) -> None:
            pulse.begin(words, patience_s=LOADING_PATIENCE_S)
            pulse.tell(words)
            if world.size == 1:
                steering.raise_if_stopped()

        parts = assemble(config, world, emit=stage.emit, on_part=on_part)
        trainer = Trainer(config, parts, emit=stage.emit, pulse=pulse, steering=steering)
        if not world.is_first:
            return trainer.run()
        if parts.position.step:
            log.info("goes on after step %s, epoch %s", f"{parts.position.step:,}", parts.position.epoch + 1)
        book = open_logbook(
            Path(config.checkpoints),
            step=parts.position.step,
            also=config.log_to,
            run_name=config.project,
            config=to_mapping(config),
        )
        watch(book.show)
        try:
            return trainer.run()
        finally:
            book.close()
