"""From a model folder to something that runs."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
from transformers.utils import logging

from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError
from pipeline.serving.embedded.cache import SlotCache, bytes_per_token
from pipeline.serving.embedded.draft_loading import checkpoint_source, lookup_source, refuse_misfit
from pipeline.serving.embedded.draft_source import DraftSource
from pipeline.serving.embedded.llama import LlamaRunner
from pipeline.serving.embedded.runner import Runner
from pipeline.serving.embedded.transformers_runner import TransformersRunner, check_supported

CACHE_SHARE = 0.5
"""Of the memory that is free once the weights are loaded."""


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    model: Path
    dtype: str
    """float32 | bfloat16."""
    device: str
    """cpu | cuda."""
    threads: int | None
    slots: int
    context_length: int | None
    """None takes the model's own, as far as memory goes."""
    draft_model: Path | None = None
    """Folder of a drafter."""
    draft: str | None = None
    """lookup: drafts without a drafter."""
    draft_shape: DraftShape = field(default_factory=DraftShape)


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    path: str
    runner: Runner
    tokenizer: Any
    """transformers' fast tokenizer."""
    eos_ids: frozenset[int]
    max_total_tokens: int
    """Tokens of cache that memory allows for all requests together."""
    source: DraftSource | None = None
    """What makes drafts for it, if anything does."""


def load(options: LoadOptions) -> LoadedModel:
    """Raises ConfigError for a folder without a model, or a model of a kind that cannot be served.

    Raises DataError for a drafter that is broken or was made for another model.
    """
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    if not (options.model / "config.json").is_file():
        raise ConfigError(f"no model in {options.model}: config.json is missing")
    try:
        config = AutoConfig.from_pretrained(options.model, local_files_only=True, trust_remote_code=False)  # nosec B615
    except ValueError as error:
        raise ConfigError(f"{options.model}: it is of an unknown kind, or brings code of its own") from error
    check_supported(config.get_text_config())
    if options.draft_model is not None:
        if options.draft is not None:
            raise ConfigError("drafts come from a drafter or from prompt lookup, not from both")
        refuse_misfit(options.draft_model, options.model, config.get_text_config().num_hidden_layers)
    device, dtype = torch.device(options.device), getattr(torch, options.dtype)
    model: Any = AutoModelForCausalLM.from_pretrained(  # nosec B615
        options.model, dtype=dtype, local_files_only=True, use_safetensors=True, trust_remote_code=False
    )
    model = model.to(device).eval()
    cache, max_total_tokens = _cache_for(model.config.get_text_config(), options, dtype, device)
    runner = LlamaRunner(model, cache) if is_plain_llama(model) else TransformersRunner(model, cache)
    return LoadedModel(
        path=str(options.model),
        runner=runner,
        tokenizer=AutoTokenizer.from_pretrained(options.model, local_files_only=True, trust_remote_code=False),  # nosec B615
        eos_ids=_eos_ids(model),
        max_total_tokens=max_total_tokens,
        source=_source(options, runner),
    )


def _source(options: LoadOptions, runner: Runner) -> DraftSource | None:
    if options.draft_model is not None:
        return checkpoint_source(options.draft_model, runner, options.draft_shape)
    return None if options.draft is None else lookup_source(runner, options.draft_shape)


def is_plain_llama(model: Any) -> bool:  # noqa: ANN401  (any model of transformers)
    """Whether `llama.py` computes this model: no biases, and rotary angles that do not depend on the length."""
    config: Any = model.config
    fixed_angles = isinstance(model, LlamaForCausalLM) and config.rope_parameters["rope_type"] in (
        "default",
        "linear",
        "llama3",
        "yarn",
    )
    return fixed_angles and config.hidden_act == "silu" and not config.attention_bias and not config.mlp_bias


def _cache_for(config: Any, options: LoadOptions, dtype: torch.dtype, device: torch.device) -> tuple[SlotCache, int]:  # noqa: ANN401
    kv_heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    layers = config.num_hidden_layers
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else psutil.virtual_memory().available
    tokens = int(free * CACHE_SHARE) // bytes_per_token(layers=layers, kv_heads=kv_heads, head_dim=head_dim, dtype=dtype)
    # On a GPU all slots take their memory at once; on a CPU a slot takes what it uses.
    longest = min(config.max_position_embeddings, tokens if device.type == "cpu" else tokens // options.slots)
    context = longest if options.context_length is None else min(options.context_length, longest)
    if context < 1:
        raise ConfigError(f"not enough memory for a cache: {free / 1e6:.0f} MB are free")
    cache = SlotCache(
        layers=layers, slots=options.slots, context=context, kv_heads=kv_heads, head_dim=head_dim, dtype=dtype, device=device
    )
    return cache, min(tokens, context * options.slots)


def _eos_ids(model: Any) -> frozenset[int]:  # noqa: ANN401  (any model of transformers)
    told = model.generation_config.eos_token_id
    if told is None:
        told = model.config.get_text_config().eos_token_id
    return frozenset() if told is None else frozenset([told] if isinstance(told, int) else told)
