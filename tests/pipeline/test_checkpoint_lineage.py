import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from pipeline.checkpoint_lineage import other_target
from pipeline.model_fingerprint import model_fingerprint


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    save_file({"w": torch.zeros(3)}, folder / "model.safetensors")
    return folder


def checkpoint(folder: Path, content: object) -> Path:
    folder.mkdir()
    (folder / "manifest.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def test_other_weights_are_named(tmp_path: Path, target: Path) -> None:
    made = checkpoint(tmp_path / "c", {"lineage": {"target": "other@0123456789ab"}})
    assert other_target(made, target).startswith("trained for other@0123456789ab, and this target is target@")


def test_same_weights_under_another_name_are_the_target(tmp_path: Path, target: Path) -> None:
    digits = model_fingerprint(target).rpartition("@")[2]
    assert other_target(checkpoint(tmp_path / "c", {"lineage": {"target": f"elsewhere@{digits}"}}), target) == ""


@pytest.mark.parametrize("content", ["{", [], {}, {"lineage": {"target": "no-fingerprint"}}])
def test_manifest_that_names_no_weights_says_nothing(tmp_path: Path, target: Path, content: object) -> None:
    assert other_target(checkpoint(tmp_path / "c", content), target) == ""


def test_checkpoint_without_a_manifest_says_nothing(tmp_path: Path, target: Path) -> None:
    assert other_target(tmp_path, target) == ""
