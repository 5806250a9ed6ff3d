"""Embedding, final norm and head of a target, and single layers, straight from its safetensors files.

A target of a trillion parameters need not be loaded to train its drafter from stored features.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pipeline.artifacts import read_json
from pipeline.drafter_config import text_config
from pipeline.errors import DataError
from pipeline.teacher import FinalNorm
from pipeline.tensor_files import TensorEntry, describe_not_finite, list_tensors, load_tensor

PREFIXES = ("model.", "language_model.model.", "model.language_model.", "model.language_model.model.", "")
"""Where the decoder's tensors stand, in a language model and inside multimodal ones."""

HEADS = ("lm_head.weight", "language_model.lm_head.weight", "model.language_model.lm_head.weight", "model.lm_head.weight")

SHIFTED_NORMS = (
    "gemma", "gemma2", "gemma3", "paligemma", "vaultgemma", "recurrent_gemma", "t5gemma", "qwen3_next", "qwen3_5",
)  # fmt: skip
"""Families whose RMSNorm multiplies by 1 + w."""


@dataclass(frozen=True, kw_only=True)
class TargetWeights:
    """What training needs of a target. V tokens, hidden size H."""

    config: Mapping[str, Any]
    """config.json."""
    embedding: Tensor
    """[V, H]."""
    final_norm: FinalNorm
    """With the factor as it multiplies, also where the family stores w for 1 + w."""
    head: Tensor
    """[V, H]; the embedding itself where the target ties the two."""
    tied: bool
    logit_softcap: float | None


def read_target_weights(folder: Path, *, dtype: torch.dtype | None = None) -> TargetWeights:
    """Read from a model folder: one safetensors file or many with an index. `dtype` None keeps each tensor's own.

    Raises DataError that names file and tensor: missing, of another shape, quantized, or not finite.
    """
    config = read_json(folder / "config.json")
    entries = list_tensors(folder)
    prefix = _decoder_prefix(folder, entries)
    embedding = _load(f"{prefix}embed_tokens.weight", entries, folder, dtype)
    norm = _load(f"{prefix}norm.weight", entries, folder, dtype)
    head_name = next((name for name in HEADS if name in entries), None)
    text = text_config(config)
    if head_name is None and text.get("tie_word_embeddings", config.get("tie_word_embeddings")) is False:
        raise DataError(f"{folder}: no lm_head.weight, and config.json says that it is not tied to the embedding")
    head = embedding if head_name is None else _load(head_name, entries, folder, dtype)
    if head.shape != embedding.shape or norm.shape != embedding.shape[1:]:
        shapes = ", ".join(str(list(tensor.shape)) for tensor in (embedding, norm, head))
        raise DataError(f"{folder}: embedding, final norm and head do not fit together: {shapes}")
    return TargetWeights(
        config=config,
        embedding=embedding,
        final_norm=FinalNorm(weight=_factor(norm, config), eps=float(text.get("rms_norm_eps", 1e-6))),
        head=head,
        tied=head_name is None,
        logit_softcap=text.get("final_logit_softcapping"),
    )


def read_layer(folder: Path, layer: int, *, dtype: torch.dtype | None = None) -> dict[str, Tensor]:
    """The tensors of one decoder layer by their names inside it, norms as they multiply. Raises DataError when it has none."""
    config = read_json(folder / "config.json")
    entries = list_tensors(folder)
    prefix = f"{_decoder_prefix(folder, entries)}layers.{layer}."
    names = [name for name in entries if name.startswith(prefix)]
    if not names:
        raise DataError(f"{folder}: no layer {layer}")
    tensors = {}
    for name in names:
        tensor = _load(name, entries, folder, dtype)
        tensors[name.removeprefix(prefix)] = _factor(tensor, config) if name.endswith("norm.weight") else tensor
    return tensors


def _decoder_prefix(folder: Path, entries: Mapping[str, TensorEntry]) -> str:
    for prefix in PREFIXES:
        if f"{prefix}embed_tokens.weight" in entries:
            return prefix
    raise DataError(f"{folder}: no embed_tokens.weight under any of {', '.join(repr(prefix) for prefix in PREFIXES)}")


def _load(name: str, entries: Mapping[str, TensorEntry], folder: Path, dtype: torch.dtype | None) -> Tensor:
    entry = entries.get(name)
    if entry is None:
        raise DataError(f"{folder}: {name} is missing")
    if entry.dtype not in ("F32", "BF16", "F16", "F64"):
        raise DataError(f"{entry.file}: {name}: quantized weights ({entry.dtype}) cannot be read here; use an unquantized copy")
    tensor = load_tensor(entry)
    if fault := describe_not_finite(tensor):
        raise DataError(f"{entry.file}: {name}: {fault}")
    return tensor if dtype is None else tensor.to(dtype)


def _factor(norm: Tensor, config: Mapping[str, Any]) -> Tensor:
    kinds = (str(config.get("model_type")), str(text_config(config).get("model_type")))
    shifted = any(kind == family or kind.startswith(f"{family}_") for kind in kinds for family in SHIFTED_NORMS)
    return norm + 1 if shifted else norm
