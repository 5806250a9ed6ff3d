"""Everything that a training is made of, put together before its first step: new, continued or resumed."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from pipeline.checkpoint import load_training_state
from pipeline.event import Event
from pipeline.events import Warned
from pipeline.extraction.sources import open_source
from pipeline.folder_lock import FolderLock
from pipeline.loss import TrainingTimeTest
from pipeline.objectives import Objective
from pipeline.training import lineage, saving
from pipeline.training.config import TrainConfig
from pipeline.training.corpus import Corpus, open_corpus
from pipeline.training.decoding import Decoder
from pipeline.training.drafting import Start, prepare
from pipeline.training.evaluation import Evaluator
from pipeline.training.hardware import pick_precision
from pipeline.training.parallel import World, sharded, wrap
from pipeline.training.saver import Saver
from pipeline.training.schedule import Limits, make_schedule
from pipeline.training.stepping import Stepper, TrainingModule, make_optimizer
from pipeline.training.stream import BatchStream
from pipeline.training_state import DataPosition, restore_state


@dataclass(frozen=True, kw_only=True)
class Assembly:
    world: World
    corpus: Corpus
    start: Start
    module: nn.Module
    """A TrainingModule, wrapped where there are several processes."""
    optimizer: Optimizer
    scheduler: LRScheduler
    limits: Limits
    stream: BatchStream
    stepper: Stepper
    evaluator: Evaluator
    decoder: Decoder
    saver: Saver
    position: DataPosition
    """Where to begin."""


@contextmanager
def held(checkpoints: Path, world: World, *, warn: Callable[[str], None]) -> Iterator[None]:
    """The folder of checkpoints, for this training alone, and only whole ones in it. Raises FolderHeldError."""
    if not world.is_first:
        yield
        return
    checkpoints.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(checkpoints)
    try:
        saving.sweep(checkpoints)
        for sentence in saving.set_damaged_aside(checkpoints):
            warn(sentence)
        yield
    finally:
        lock.release()


def assemble(config: TrainConfig, world: World, *, emit: Callable[[Event], None], on_part: Callable[[str], None]) -> Assembly:
    """Open, split, load, wrap, restore. `on_part`: told what is done next, in words; what it raises ends the assembly.

    Raises DataError and ConfigError for whatever cannot be trained on.
    """
    # The first process may have to sweep before the others look.
    world.share([0.0])
    random.seed(config.seed)
    torch.manual_seed(config.seed)
    checkpoints = Path(config.checkpoints)
    resume = saving.resumable_checkpoint(checkpoints)
    if resume is not None:
        lineage.require_same_training(resume, config)
    precision = pick_precision(config.precision, world.device)

    on_part("opening the hidden states" if config.source == "stored" else "loading the target")
    source = open_source(config, world.device)
    on_part("counting tokens")
    corpus = open_corpus(source, held_out_share=config.evaluation.held_out_share)
    _warn(config, corpus, emit)
    on_part("loading the drafter and the target's head")
    start = prepare(config, corpus, device=world.device, precision=precision, resume=resume)

    objective = config.objective
    test = TrainingTimeTest(
        start.drafter, start.teacher, objective=Objective(objective.objective, objective.kl_weight), decay=objective.decay
    )
    module = wrap(TrainingModule(test), world, config.parallel)
    optimizer = make_optimizer(module, config.optimizer)
    group = config.accumulation * world.size
    whole = BatchStream(config, corpus.lengths(), group=group)
    limits = Limits(steps=whole.total_steps(), minutes=config.max_minutes)
    scheduler = make_schedule(optimizer, config.optimizer, limits)
    position = DataPosition()
    if resume is not None:
        state = load_training_state(resume)
        limits.elapsed_s = float(state["elapsed_s"])
        position = restore_state({**state, "optimizer": sharded(state["optimizer"], optimizer)}, optimizer, scheduler)
    return Assembly(
        world=world,
        corpus=corpus,
        start=start,
        module=module,
        optimizer=optimizer,
        scheduler=scheduler,
        limits=limits,
        stream=BatchStream(config, corpus.lengths(), group=group, epoch=position.epoch, batch=position.batch),
        stepper=Stepper(module, start.teacher, optimizer, world, precision=precision, clip=config.optimizer.clip),
        evaluator=Evaluator(config, corpus, start.teacher, world, precision=precision),
        decoder=Decoder(config, corpus, world.device),
        saver=Saver(
            checkpoints,
            start.drafter,
            world,
            lineage=lineage.describe(config, corpus, start, world, precision=str(precision).removeprefix("torch.")),
            keep_last=config.saving.keep_last,
            emit=emit,
        ),
        position=position,
    )


def _warn(config: TrainConfig, corpus: Corpus, emit: Callable[[Event], None]) -> None:
    if corpus.source.excluded:
        emit(Warned(text=config.exclusions.words(corpus.source.excluded)))
    if corpus.unlabelled:
        emit(Warned(text=f"{corpus.unlabelled} documents have no supervised token and are left out"))
    if not corpus.held_out:
        emit(
            Warned(
                text=f"no document is held out (share {config.evaluation.held_out_share:g} of {len(corpus.train)}): nothing is "
                "measured, and the last checkpoint counts as the best"
            )
        )
