"""Faults seen in public checkpoints, each made on purpose, each named with file and tensor."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from pipeline.checkpoint import save_checkpoint
from pipeline.checkpoint_check import check_folder
from tests.support.tiny_drafter import tiny

Tensors = dict[str, torch.Tensor]
TARGET = {"hidden_size": 24, "vocab_size": 50, "max_position_embeddings": 512, "rope_theta": 10_000.0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "drafter", tiny(dtype=torch.float32).drafter, lineage={})
    return tmp_path / "drafter"


def edit_tensors(folder: Path, change: Callable[[Tensors], Any]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def edit_config(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    values = json.loads((folder / "config.json").read_text())
    change(values)
    (folder / "config.json").write_text(json.dumps(values))


def findings(folder: Path, target: dict[str, Any] | None = None) -> list[str]:
    return [f"{finding.severity}: {finding}" for finding in check_folder(folder, target=target)]


def test_sound_checkpoint_has_no_findings(folder: Path) -> None:
    assert findings(folder, TARGET) == []


TENSOR_FAULTS: list[tuple[Callable[[Tensors], Any], str]] = [
    (lambda t: t.pop("d2t"), "error: model.safetensors: d2t: missing: every draft would be taken for another token"),
    (lambda t: t.pop("norm.weight"), "error: model.safetensors: norm.weight: missing"),
    (
        lambda t: t.update({"layers.0.x.weight": torch.zeros(2)}),
        "warning: model.safetensors: layers.0.x.weight: unknown name: SGLang skips it without a word",
    ),
    (
        lambda t: t.update({"fc.weight": t["fc.weight"].T.contiguous()}),
        "error: model.safetensors: fc.weight: shape [72, 24] (transposed), the config says [24, 72]",
    ),
    (
        lambda t: t.update({"lm_head.weight": torch.zeros(21, 24)}),
        "error: model.safetensors: lm_head.weight: shape [21, 24], the config says [20, 24]",
    ),
    (
        lambda t: t["midlayer.mlp.up_proj.weight"][0].fill_(float("inf")),
        "error: model.safetensors: midlayer.mlp.up_proj.weight: 24 of 960 values are NaN or infinite",
    ),
    (lambda t: t.update({"d2t": t["d2t"].float()}), "error: model.safetensors: d2t: must hold int64, not F32"),
    (
        lambda t: t["d2t"][-1].fill_(100),
        "error: model.safetensors: d2t: draft vocabulary: ids must ascend between 0 and 49",
    ),
    (
        lambda t: t["t2d"].logical_not_(),
        "warning: model.safetensors: t2d: does not mark the tokens that d2t points at",
    ),
]


@pytest.mark.parametrize(("change", "expected"), TENSOR_FAULTS)
def test_faulty_tensor_is_named(folder: Path, change: Callable[[Tensors], Any], expected: str) -> None:
    edit_tensors(folder, change)
    assert findings(folder) == [expected]


def test_identity_mapping_is_refused(folder: Path) -> None:
    edit_tensors(folder, lambda t: t["d2t"].zero_())
    (finding,) = findings(folder)
    assert finding.startswith("error: model.safetensors: d2t: draft vocabulary: an identity mapping of 20 out of 50")


def test_unsorted_mapping_is_worth_a_look(folder: Path) -> None:
    def swap(tensors: Tensors) -> None:
        ids = tensors["d2t"] + torch.arange(20)
        ids[[0, 1]] = ids[[1, 0]]
        tensors["d2t"] = ids - torch.arange(20)

    edit_tensors(folder, swap)
    (finding,) = findings(folder)
    assert finding.startswith("warning: model.safetensors: d2t: its tokens do not ascend")


CONFIG_FAULTS: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda c: c.update(architectures=["LlamaForCausalLM"]), "error: config.json: architectures is ['LlamaForCausalLM']"),
    (lambda c: c.pop("draft_vocab_size"), "error: config.json: draft_vocab_size is missing"),
    (lambda c: c.update(max_position_embeddings=2048), "warning: config.json: max_position_embeddings is 2048"),
    (lambda c: (c.pop("rope_theta"), c.pop("rope_parameters")), "error: config.json: the config names no rope_theta"),
    (lambda c: c.pop("rope_theta"), "error: config.json: rope_theta is None and rope_parameters.rope_theta is 10000.0"),
    (lambda c: c.pop("eagle_config"), "warning: config.json: eagle_config is missing"),
    (lambda c: c.update(tie_word_embeddings=True), "error: config.json: tie_word_embeddings is true"),
    (lambda c: c.update(num_hidden_layers=2), "error: config.json: a drafter is one llama layer, not 2 of 'llama'"),
    (lambda c: c.update(fc_norm=True), "warning: config.json: fc_norm: changes the layer"),
]


@pytest.mark.parametrize(("change", "expected"), CONFIG_FAULTS)
def test_faulty_config_is_named(folder: Path, change: Callable[[dict[str, Any]], Any], expected: str) -> None:
    edit_config(folder, change)
    (finding,) = findings(folder)
    assert finding.startswith(expected)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({"hidden_size": 32}, "error: config.json: hidden_size is 24, the target's is 32"),
        ({"vocab_size": 51}, "error: config.json: vocab_size is 50, the target's is 51"),
        ({"max_position_embeddings": 4096}, "error: config.json: max_position_embeddings is 512, the target's context is 4096"),
        ({"rope_theta": 500_000.0}, "warning: config.json: RoPE is RopeConfig(theta=10000.0"),
    ],
)
def test_drafter_of_another_target_is_named(folder: Path, target: dict[str, Any], expected: str) -> None:
    (finding,) = findings(folder, TARGET | target)
    assert finding.startswith(expected)


def test_truncated_weights_are_named(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    (finding,) = findings(folder)
    assert "model.safetensors: truncated" in finding


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_unreadable_config_is_named(folder: Path, content: str | None) -> None:
    (folder / "config.json").unlink()
    if content is not None:
        (folder / "config.json").write_text(content)
    (finding,) = findings(folder)
    assert finding.startswith("error: config.json: ")


def test_pickled_weights_are_not_opened(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    (finding,) = findings(folder)
    assert "pytorch_model.bin: pickles are not read" in finding
