"""What this host offers to training: device, precision, memory."""

import resource
from typing import Literal

import torch

from pipeline.errors import ConfigError


def pick_device(name: str, *, local_rank: int = 0) -> torch.device:
    """The device of this process; auto: this process's GPU where there is one. Raises ConfigError for one that is not there."""
    if name == "auto":
        name = f"cuda:{local_rank}" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"device {name!r}: known are auto, cpu, cuda and cuda:N") from error
    if device.type == "cuda":
        index = local_rank if device.index is None else device.index
        if index >= torch.cuda.device_count():
            raise ConfigError(f"device {name!r} is not there: this host has {torch.cuda.device_count()} GPUs")
        return torch.device("cuda", index)
    return device


def pick_precision(name: Literal["auto", "bfloat16", "float32"], device: torch.device) -> torch.dtype:
    """The dtype of matrix products; auto: bfloat16 where the device multiplies it fast."""
    if name != "auto":
        return torch.bfloat16 if name == "bfloat16" else torch.float32
    return torch.bfloat16 if device.type == "cuda" or _cpu_multiplies_bfloat16() else torch.float32


def peak_memory(device: torch.device) -> int:
    """Bytes: of the device where there is one, else of the process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _cpu_multiplies_bfloat16() -> bool:
    flags = (torch.cpu._is_avx512_bf16_supported, torch.cpu._is_amx_tile_supported)
    return any(flag() for flag in flags)
