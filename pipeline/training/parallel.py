"""Several processes that train one drafter, or one alone: what they share, and how the module is wrapped.

Each process computes its own batches; sums travel between them, decisions come from the first.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import torch
from torch import Tensor, distributed, nn
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

from pipeline.errors import ConfigError
from pipeline.training.hardware import pick_device

PATIENCE = timedelta(hours=2)
"""Longest wait of one process for another: the first one decodes and saves while the others wait."""


@dataclass(frozen=True, kw_only=True)
class World:
    rank: int
    size: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        """The process that tells and writes."""
        return self.rank == 0

    def sum(self, values: Tensor) -> Tensor:
        """The sum over all processes, on the CPU."""
        if self.size == 1:
            return values.cpu()
        total = values.to(self.device)
        distributed.all_reduce(total)
        return total.cpu()

    def share(self, values: Sequence[float]) -> list[float]:
        """The first process's values, in every process."""
        if self.size == 1:
            return list(values)
        shared = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.broadcast(shared, src=0)
        return list(shared.tolist())


@contextmanager
def joined(device: str, devices: Sequence[str] = ()) -> Iterator[World]:
    """The processes that the environment tells of, as torchrun writes it; one alone without it. Raises ConfigError.

    With `devices` each process has its own one of them.
    """
    rank, size, local_rank = (int(os.environ.get(name, value)) for name, value in _ALONE.items())
    if devices and local_rank >= len(devices):
        raise ConfigError(f"{size} processes for {len(devices)} devices")
    place = pick_device(devices[local_rank] if devices else device, local_rank=local_rank)
    if size > 1:
        if place.type == "cuda":
            torch.cuda.set_device(place)
        distributed.init_process_group("nccl" if place.type == "cuda" else "gloo", timeout=PATIENCE)
    try:
        yield World(rank=rank, size=size, device=place)
    finally:
        if size > 1:
            distributed.destroy_process_group()


_ALONE = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}


def wrap(module: nn.Module, world: World, kind: Literal["ddp", "fsdp2"]) -> nn.Module:
    """The module to call in training: gradients are averaged over processes."""
    if world.size == 1:
        return module
    if kind == "fsdp2":
        # One layer is one unit: its weights are gathered together, and it is weights' gradients and AdamW's state that shrink.
        fully_shard(module)
        return module
    return DistributedDataParallel(module, forward_sync_buffers=False)


@contextmanager
def gradients_synced(module: nn.Module, synced: bool) -> Iterator[None]:
    """Gradients of a backward pass inside are averaged over processes only if `synced`: the last one of an accumulation."""
    if isinstance(module, FSDPModule):
        module.set_requires_gradient_sync(synced)
        yield
    elif isinstance(module, DistributedDataParallel) and not synced:
        with module.no_sync():
            yield
    else:
        yield


@contextmanager
def whole(module: nn.Module) -> Iterator[nn.Module]:
    """The module with all its weights at hand, to be called as often as each process likes."""
    if isinstance(module, FSDPModule):
        module.unshard()
        yield module
        module.reshard()
    else:
        yield module.module if isinstance(module, DistributedDataParallel) else module


def gathered(value: Any) -> Any:  # noqa: ANN401  (a state dict, or a part of one)
    """A state dict with every sharded tensor as a whole one. All processes call it together."""
    if isinstance(value, DTensor):
        return value.full_tensor()
    if isinstance(value, Mapping):
        return {key: gathered(item) for key, item in value.items()}
    return [gathered(item) for item in value] if isinstance(value, list) else value


def sharded(state: Mapping[str, Any], optimizer: Optimizer) -> dict[str, Any]:
    """An optimizer's gathered state dict, with its tensors sharded as the optimizer's own parameters are."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]

    def like(parameter: Tensor, value: Any) -> Any:  # noqa: ANN401  (a state's entry)
        if isinstance(parameter, DTensor) and isinstance(value, Tensor) and value.shape == parameter.shape:
            return distribute_tensor(value.to(parameter.device), parameter.device_mesh, parameter.placements)
        return value

    entries = {
        index: {name: like(parameters[index], value) for name, value in entry.items()}
        for index, entry in state["state"].items()
    }
    return {**state, "state": entries}
