"""Writes the checkpoints of a training: whole weights and optimizer state from all processes, by the first one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from pipeline.artifacts import naming_full_disks
from pipeline.checkpoint import save_checkpoint
from pipeline.drafter_events import CheckpointSaved
from pipeline.event import Event
from pipeline.model import Drafter
from pipeline.model_card import write_model_card
from pipeline.training import saving
from pipeline.training.parallel import World, gathered
from pipeline.training_state import DataPosition, capture_state


class Saver:
    def __init__(
        self,
        folder: Path,
        drafter: Drafter,
        world: World,
        *,
        lineage: Mapping[str, Any],
        keep_last: int,
        emit: Callable[[Event], None],
    ) -> None:
        """`drafter`: the trained module, sharded or not."""
        self._folder, self._drafter, self._world = folder, drafter, world
        self._lineage, self._keep_last, self._emit = lineage, keep_last, emit
        # What a checkpoint is written from, whatever wrappers do to the weights of the module itself.
        self._config, self._vocabulary, self._embedding = drafter.config, drafter.vocabulary, drafter.embedding

    def save(
        self,
        optimizer: Optimizer,
        scheduler: LRScheduler,
        position: DataPosition,
        *,
        elapsed_s: float,
        metrics: Mapping[str, float],
    ) -> None:
        """Write one checkpoint, then delete those that need not stay. All processes call it together. Raises DiskFullError."""
        state = capture_state(optimizer, scheduler, position)
        state["optimizer"] = gathered(state["optimizer"])
        drafter = self.whole()
        if not self._world.is_first:
            return
        folder = saving.checkpoint_folder(self._folder, position.step)
        with naming_full_disks(folder.name, self._folder):
            save_checkpoint(
                folder,
                drafter,
                lineage={**self._lineage, "step": position.step, "epoch": position.epoch, "tokens": position.tokens},
                metrics=metrics,
                training_state={**state, "elapsed_s": elapsed_s},
            )
            write_model_card(folder)
        removed = saving.remove_old(self._folder, keep_last=self._keep_last)
        self._emit(
            CheckpointSaved(
                step=position.step,
                path=str(folder),
                bytes=saving.folder_bytes(folder),
                metrics=dict(metrics),
                best=saving.best_checkpoint(self._folder) == folder,
                removed=tuple(str(path) for path in removed),
            )
        )

    def whole(self) -> Drafter:
        """The drafter of this moment with all its weights. All processes call it together."""
        with torch.random.fork_rng(devices=[]):
            drafter = Drafter(self._config, self._vocabulary, self._embedding)
        drafter.load_state_dict(gathered(dict(self._drafter.state_dict())), assign=True)
        return drafter
