"""Everything besides the weights that a resumed training needs to go on bit for bit."""

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler


@dataclass(frozen=True, kw_only=True)
class DataPosition:
    """Where in the data a training stands: the next batch of `plan_batches(…, seed, epoch)` to take."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    """Optimizer steps done."""
    tokens: int = 0
    """Tokens seen."""


def capture_state(optimizer: Optimizer, scheduler: LRScheduler, position: DataPosition) -> dict[str, Any]:
    """Plain values and tensors only, so that `torch.load(weights_only=True)` reads them."""
    version, words, gauss = random.getstate()
    return {
        "optimizer": optimizer.state_dict(),
        "scheduler": {name: value for name, value in scheduler.state_dict().items() if not callable(value)},
        "position": asdict(position),
        "random": [version, list(words), gauss],
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all(),
    }


def restore_state(state: Mapping[str, Any], optimizer: Optimizer, scheduler: LRScheduler) -> DataPosition:
    """Set optimizer, scheduler and random numbers as they were; returns where the data goes on."""
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(dict(state["scheduler"]))
    version, words, gauss = state["random"]
    random.setstate((version, tuple(words), gauss))
    torch.set_rng_state(state["torch"])
    torch.cuda.set_rng_state_all(state["cuda"][: torch.cuda.device_count()])
    return DataPosition(**state["position"])
