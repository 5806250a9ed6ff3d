import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from pipeline.checkpoint import save_checkpoint
from pipeline.export_cli import add_arguments, run
from pipeline.model_fingerprint import model_fingerprint
from tests.support.tiny_drafter import tiny


def call(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args([str(argument) for argument in arguments]))


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "step-1", tiny(dtype=torch.float32).drafter, lineage={})
    return tmp_path / "step-1"


def test_export_writes_a_folder_that_passes_the_check(checkpoint: Path, tmp_path: Path) -> None:
    assert call(checkpoint, tmp_path / "out") == 0
    assert call("--check", tmp_path / "out") == 0
    assert "# EAGLE-3 drafter for an unnamed target" in (tmp_path / "out" / "README.md").read_text()


def test_check_prints_each_fault_and_fails(checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkpoint / "model.safetensors").write_bytes(b"")
    assert call("--check", checkpoint) == 1
    assert "model.safetensors: truncated" in capsys.readouterr().out


def test_check_prints_json(checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--check", checkpoint, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"folder": str(checkpoint), "valid": True, "findings": []}


def test_check_compares_with_the_target(checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"hidden_size": 99, "vocab_size": 50, "rope_theta": 10000.0}))
    assert call("--check", checkpoint, "--target", tmp_path) == 1
    assert "hidden_size is 24, the target's is 99" in capsys.readouterr().out


Tensors = dict[str, torch.Tensor]


def edited(checkpoint: Path, change: Callable[[Tensors], Any]) -> None:
    tensors = load_file(checkpoint / "model.safetensors")
    change(tensors)
    save_file(tensors, checkpoint / "model.safetensors")


def truncate(checkpoint: Path) -> None:
    weights = checkpoint / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])


BAD: list[tuple[str, Callable[[Path], Any], dict[str, int], str]] = [
    ("another target", lambda _folder: None, {"hidden_size": 32}, "config.json: hidden_size is 24, the target's is 32"),
    ("another vocabulary", lambda _folder: None, {"vocab_size": 60}, "config.json: vocab_size is 50, the target's is 60"),
    (
        "missing d2t",
        lambda folder: edited(folder, lambda t: t.pop("d2t")),
        {},
        "model.safetensors: d2t: missing: every draft would be taken for another token",
    ),
    (
        "d2t of another vocabulary",
        lambda folder: edited(folder, lambda t: t["d2t"][-1].fill_(100)),
        {},
        "model.safetensors: d2t: draft vocabulary: ids must ascend between 0 and 49",
    ),
    (
        "transposed fc",
        lambda folder: edited(folder, lambda t: t.update({"fc.weight": t["fc.weight"].T.contiguous()})),
        {},
        "model.safetensors: fc.weight: shape [72, 24] (transposed), the config says [24, 72]",
    ),
    ("truncated file", truncate, {}, "model.safetensors: truncated: "),
    (
        "NaN weights",
        lambda folder: edited(folder, lambda t: t["lm_head.weight"][0, :3].fill_(float("nan"))),
        {},
        "model.safetensors: lm_head.weight: 3 of 480 values are NaN or infinite",
    ),
]


@pytest.mark.parametrize(("change", "target", "fault"), [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD])
def test_bad_checkpoint_has_one_error_that_names_file_and_tensor(
    checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Path], Any],
    target: dict[str, int],
    fault: str,
) -> None:
    change(checkpoint)
    (tmp_path / "config.json").write_text(json.dumps({"hidden_size": 24, "vocab_size": 50, "rope_theta": 10000.0} | target))
    assert call("--check", checkpoint, "--target", tmp_path) == 1
    told = capsys.readouterr().out.splitlines()
    (error,) = [line for line in told if line.startswith("error: ")]
    assert fault in error
    assert told[-1] == f"{checkpoint}: 1 errors, 0 warnings"
    assert call(checkpoint, tmp_path / "out", "--target", tmp_path) == 1
    assert not (tmp_path / "out").exists()


def test_checkpoint_of_a_target_of_the_same_sizes_is_worth_a_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "config.json").write_text(json.dumps({"hidden_size": 24, "vocab_size": 50, "rope_theta": 10000.0}))
    save_file({"w": torch.zeros(3)}, target / "model.safetensors")
    for name, trained_for in (("same", model_fingerprint(target)), ("other", "other@0123456789ab")):
        save_checkpoint(tmp_path / name, tiny(dtype=torch.float32).drafter, lineage={"target": trained_for})
    assert call("--check", tmp_path / "same", "--target", target) == 0
    assert "0 errors, 0 warnings" in capsys.readouterr().out
    assert call("--check", tmp_path / "other", "--target", target) == 0
    assert "warning: manifest.json: trained for other@0123456789ab, and this target is target@" in capsys.readouterr().out


def test_faulty_source_is_not_exported(checkpoint: Path, tmp_path: Path) -> None:
    (checkpoint / "config.json").unlink()
    assert call(checkpoint, tmp_path / "out") == 1
    assert not (tmp_path / "out").exists()


def test_existing_destination_is_kept(checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(checkpoint, checkpoint) == 1
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [(), ("a",), ("a", "b", "--check", "c")])
def test_senseless_arguments_are_refused(arguments: tuple[str, ...]) -> None:
    assert call(*arguments) == 2


def test_target_without_a_config_is_named(checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--check", checkpoint, "--target", tmp_path / "nothing") == 1
    assert "no readable config.json" in capsys.readouterr().err
