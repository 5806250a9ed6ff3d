"""From a model folder to a target that reads documents."""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM
from transformers.utils import logging

from pipeline.errors import ConfigError
from pipeline.extraction.llama_target import LlamaTarget
from pipeline.extraction.states import Target
from pipeline.extraction.transformers_target import TransformersTarget
from pipeline.serving.embedded.loading import is_plain_llama
from pipeline.shard_layout import Layout


def load_target(
    folder: Path,
    layout: Layout,
    *,
    max_length: int,
    device: str = "auto",
    dtype: str = "auto",
    trust_remote_code: bool = False,
) -> Target:
    """Load the model to read documents of at most `max_length` tokens.

    `device`: auto, cpu, cuda, cuda:N, or map for several GPUs; `dtype`: auto, bfloat16 or float32; auto is float32 on a CPU.
    With `trust_remote_code` a model that brings Python of its own has it executed here, with all that this process may do.
    Raises ConfigError for a model that transformers cannot load, or a device that is not there.
    """
    spread, place = device == "map", _device(device)
    if dtype == "auto":
        dtype = "float32" if place.type == "cpu" else "bfloat16"
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(  # nosec B615
            folder,
            dtype=getattr(torch, dtype),
            device_map="auto" if spread else None,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=trust_remote_code,
        )
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folder}: transformers cannot load this model: {error}") from error
    model = model.eval().requires_grad_(False)
    if not spread:
        model = model.to(place)
    layers = layout.feature_layers.hidden_states
    if place.type == "cpu" and is_plain_llama(model):
        return LlamaTarget(model, layers, max_length=max_length)
    return TransformersTarget(model, layers)


def _device(name: str) -> torch.device:
    """Where `auto` and `map` begin, and what the other names say. Raises ConfigError for a device that is not there."""
    if name in ("auto", "map"):
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"device {name!r}: known are auto, map, cpu, cuda and cuda:N") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(f"device {name!r} is not there: this host has {torch.cuda.device_count()} GPUs")
    return device
