"""What is wrong with an EAGLE-3 checkpoint folder, ours or not, file by file and tensor by tensor.

A server loads the tensor names that it knows and skips all others without a word, so a wrong checkpoint serves, and drafts
nothing that is accepted. Everything that can go unnoticed that way is looked at here, before anybody says "exported".
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from pipeline.drafter_config import ARCHITECTURE, DrafterConfig, expected_shapes, from_json, text_config
from pipeline.errors import ConfigError, PipelineError
from pipeline.rope import RopeConfig
from pipeline.tensor_files import TensorEntry, describe_not_finite, list_tensors, load_tensor
from pipeline.vocab import DraftVocabulary

OPTIONAL = {"t2d", "embed_tokens.weight"}
"""Known names that a checkpoint may leave out: the server ignores the first and has the second from the target."""

THREE_FEATURES = {"eagle_aux_hidden_state_layer_ids": [1, 2, 3]}
"""Stands in for a missing eagle_config while shapes are checked: the number counts, not the layers."""

OTHER_LAYERS = ("norm_output", "fc_norm", "norm_before_fc")
"""Config keys that change the layer itself, and that frameworks disagree about."""


@dataclass(frozen=True)
class Finding:
    severity: Literal["error", "warning"]
    """An error makes the drafter wrong or unloadable; a warning is worth a look."""
    file: str
    tensor: str
    """Empty when the whole file is meant."""
    text: str

    def __str__(self) -> str:
        return f"{self.file}: {self.tensor + ': ' if self.tensor else ''}{self.text}"


def check_folder(folder: Path, *, target: Mapping[str, Any] | None = None) -> list[Finding]:
    """All findings; empty for a checkpoint that loads and means what it says. `target`: the target's config.json."""
    values, findings = _read_config(folder)
    if values is None:
        return findings
    findings += _check_config(values)
    if target is not None:
        findings += _check_target(values, text_config(target))
    try:
        # What a server does without these two is said above; the tensors are worth checking all the same.
        config = from_json(
            values | {"architectures": [ARCHITECTURE], "eagle_config": values.get("eagle_config", THREE_FEATURES)}
        )
        entries = drafter_entries(folder)
    except PipelineError as error:
        return [*findings, Finding("error", "config.json" if isinstance(error, ConfigError) else folder.name, "", str(error))]
    findings += _check_names_and_shapes(entries, config)
    findings += _check_values(entries, config)
    return findings


def drafter_entries(folder: Path) -> dict[str, TensorEntry]:
    """The folder's tensors by the names of `expected_shapes`: SGLang knows each with and without a leading `model.`."""
    return {name.removeprefix("model."): entry for name, entry in list_tensors(folder).items()}


def _read_config(folder: Path) -> tuple[dict[str, Any] | None, list[Finding]]:
    path = folder / "config.json"
    try:
        values = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None, [Finding("error", "config.json", "", f"missing in {folder}")]
    except ValueError as error:
        return None, [Finding("error", "config.json", "", f"no valid JSON: {error}")]
    if not isinstance(values, dict):
        return None, [Finding("error", "config.json", "", "not an object")]
    return values, []


def _check_config(values: Mapping[str, Any]) -> Iterator[Finding]:
    def finding(severity: Literal["error", "warning"], text: str) -> Finding:
        return Finding(severity, "config.json", "", text)

    if ARCHITECTURE not in (values.get("architectures") or []):
        yield finding("error", f"architectures is {values.get('architectures')!r}, SGLang needs [{ARCHITECTURE!r}]")
    if "eagle_config" not in values:
        yield finding("warning", "eagle_config is missing: the server guesses the target's feature layers from its depth")
    if values.get("model_type") != "llama" or values.get("num_hidden_layers") != 1:
        kind, layers = values.get("model_type"), values.get("num_hidden_layers")
        yield finding("error", f"a drafter is one llama layer, not {layers!r} of {kind!r}")
    if values.get("tie_word_embeddings"):
        yield finding("error", "tie_word_embeddings is true: the trained lm_head would be replaced by the embedding")
    inner = (values.get("rope_parameters") or {}).get("rope_theta")
    if inner is not None and inner != values.get("rope_theta"):
        yield finding(
            "error", f"rope_theta is {values.get('rope_theta')} and rope_parameters.rope_theta is {inner}: readers take either"
        )
    if values.get("max_position_embeddings") == 2048:
        yield finding("warning", "max_position_embeddings is 2048, the usual mistake: drafting ends there in longer answers")
    changed = [key for key in OTHER_LAYERS if values.get(key)]
    if changed:
        yield finding("warning", f"{', '.join(changed)}: changes the layer, and readers disagree on how")


def _check_target(values: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[Finding]:
    for key in ("hidden_size", "vocab_size"):
        if values.get(key) != target.get(key):
            yield Finding("error", "config.json", "", f"{key} is {values.get(key)}, the target's is {target.get(key)}")
    context, needed = values.get("max_position_embeddings"), target.get("max_position_embeddings")
    if isinstance(context, int) and isinstance(needed, int) and context < needed:
        yield Finding("error", "config.json", "", f"max_position_embeddings is {context}, the target's context is {needed}")
    try:
        ours, theirs = RopeConfig.from_model_config(values), RopeConfig.from_model_config(target)
    except PipelineError as error:
        yield Finding("warning", "config.json", "", f"RoPE cannot be compared with the target's: {error}")
        return
    if ours != theirs:
        yield Finding("warning", "config.json", "", f"RoPE is {ours}, the target's is {theirs}")


def _check_names_and_shapes(entries: Mapping[str, TensorEntry], config: DrafterConfig) -> Iterator[Finding]:
    expected = expected_shapes(config)
    identity = config.draft_vocab_size == config.vocab_size
    for name in sorted(set(expected) - set(entries) - OPTIONAL - ({"d2t"} if identity else set())):
        why = ": every draft would be taken for another token" if name == "d2t" else ""
        yield Finding("error", "model.safetensors", name, f"missing{why}")
    for name in sorted(set(entries) - set(expected) - OPTIONAL):
        yield Finding("warning", entries[name].file.name, name, "unknown name: SGLang skips it without a word")
    for name in sorted(set(entries) & set(expected)):
        found, wanted = entries[name].shape, expected[name]
        if found != wanted:
            hint = " (transposed)" if found == wanted[::-1] else ""
            text = f"shape {list(found)}{hint}, the config says {list(wanted)}"
            yield Finding("warning" if name == "t2d" else "error", entries[name].file.name, name, text)


def _check_values(entries: Mapping[str, TensorEntry], config: DrafterConfig) -> Iterator[Finding]:
    """Reads one tensor at a time."""
    for name in sorted(set(entries) & set(expected_shapes(config)) - {"d2t", "t2d"}):
        if fault := describe_not_finite(load_tensor(entries[name])):
            yield Finding("error", entries[name].file.name, name, fault)
    if "d2t" not in entries or entries["d2t"].shape != (config.draft_vocab_size,):
        return
    file = entries["d2t"].file.name
    if entries["d2t"].dtype not in ("I64", "I32"):
        yield Finding("error", file, "d2t", f"must hold int64, not {entries['d2t'].dtype}")
        return
    d2t = load_tensor(entries["d2t"]).to(torch.int64)
    token_ids = d2t + torch.arange(len(d2t))
    ascending = token_ids.sort().values
    if not torch.equal(token_ids, ascending):
        yield Finding(
            "warning", file, "d2t", "its tokens do not ascend: SGLang takes them in any order, training here does not"
        )
    try:
        vocabulary = DraftVocabulary(ascending, config.vocab_size)
    except PipelineError as error:
        yield Finding("error", file, "d2t", str(error))
        return
    t2d = entries.get("t2d")
    if t2d and t2d.shape == (config.vocab_size,) and not torch.equal(load_tensor(t2d).to(torch.bool), vocabulary.t2d):
        yield Finding("warning", t2d.file.name, "t2d", "does not mark the tokens that d2t points at")
