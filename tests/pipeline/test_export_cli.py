import argparse
import json
from pathlib import Path

import pytest
import torch

from pipeline.checkpoint import save_checkpoint
from pipeline.export_cli import add_arguments, run
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
