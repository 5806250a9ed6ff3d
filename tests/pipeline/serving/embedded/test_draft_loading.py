"""Checkpoints that cannot draft for this target: one clear error each, with file and tensor."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from pipeline.draft_shape import DraftShape
from pipeline.errors import DataError
from pipeline.serving.embedded.draft_loading import lookup_source, refuse_misfit
from pipeline.serving.embedded.loading import LoadedModel, LoadOptions, load
from tests.support.tiny_speculation import save_tiny_drafter

Change = Callable[[dict[str, torch.Tensor]], object]


@pytest.fixture(scope="module")
def loaded(deep_folder: Path) -> LoadedModel:
    return load(LoadOptions(model=deep_folder, dtype="float32", device="cpu", threads=1, slots=2, context_length=None))


def drop(name: str) -> Change:
    return lambda tensors: [tensors.pop(name)]


def put(name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    return lambda tensors: tensors.update({name: change(tensors[name]).contiguous()})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (drop("d2t"), "model.safetensors: d2t: missing"),
        (put("fc.weight", lambda weight: weight.T), r"model.safetensors: fc.weight: shape .* \(transposed\)"),
        (put("norm.weight", lambda weight: weight * torch.nan), "model.safetensors: norm.weight: .*NaN"),
        (put("d2t", torch.zeros_like), "model.safetensors: d2t: .*identity mapping"),
    ],
)
def test_a_broken_tensor_is_named(loaded: LoadedModel, deep_folder: Path, tmp_path: Path, change: Change, message: str) -> None:
    folder = save_tiny_drafter(deep_folder, tmp_path / "drafter")
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(DataError, match=f"drafter is no drafter for .*: {message}"):
        refuse_misfit(folder, deep_folder, loaded.runner.layers)


@pytest.mark.parametrize(("key", "value"), [("vocab_size", 301), ("hidden_size", 64)])
def test_another_target_is_named(loaded: LoadedModel, deep_folder: Path, tmp_path: Path, key: str, value: int) -> None:
    folder = save_tiny_drafter(deep_folder, tmp_path / "drafter")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {key: value}))
    with pytest.raises(DataError, match=rf"config\.json: {key} is {value}, the target's is {config[key]}"):
        refuse_misfit(folder, deep_folder, loaded.runner.layers)


def test_layers_that_the_target_lacks_are_refused(loaded: LoadedModel, deep_folder: Path, tmp_path: Path) -> None:
    folder = save_tiny_drafter(deep_folder, tmp_path / "drafter")
    config = json.loads((folder / "config.json").read_text())
    config["eagle_config"]["eagle_aux_hidden_state_layer_ids"] = [1, 5, 9]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match=r"config\.json: .*layers 0 to 6"):
        refuse_misfit(folder, deep_folder, loaded.runner.layers)


def test_a_misfit_is_refused_before_the_target_is_read(deep_folder: Path, tmp_path: Path) -> None:
    hollow = tmp_path / "target"
    hollow.mkdir()
    (hollow / "config.json").write_bytes((deep_folder / "config.json").read_bytes())
    options = LoadOptions(
        model=hollow, dtype="float32", device="cpu", threads=1, slots=2, context_length=None, draft_model=tmp_path / "nowhere"
    )
    with pytest.raises(DataError, match=r"nowhere is no drafter for .*target: config\.json: missing"):
        load(options)


def test_a_missing_folder_is_named(loaded: LoadedModel, deep_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere is no drafter for .*: config\.json: missing"):
        refuse_misfit(tmp_path / "nowhere", deep_folder, loaded.runner.layers)


def test_lookup_guesses_what_a_verification_reads(loaded: LoadedModel) -> None:
    assert lookup_source(loaded.runner, DraftShape(draft_tokens=6)).guesses == 5
