from pathlib import Path

import pytest
import torch
from transformers import Qwen2Config

from pipeline.errors import ConfigError
from pipeline.extraction.llama_target import LlamaTarget
from pipeline.extraction.target import load_target
from pipeline.extraction.transformers_target import TransformersTarget
from pipeline.target_layout import target_layout
from tests.support.extraction import tiny_target
from tests.support.tiny_model import SHAPE, save_tiny_model


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(Qwen2Config(**SHAPE | {"num_hidden_layers": 7}), tmp_path_factory.mktemp("qwen"))


def test_llama_on_a_cpu_is_read_by_the_engines_forward_and_others_by_transformers(tmp_path: Path, qwen: Path) -> None:
    llama = tiny_target(tmp_path)
    assert isinstance(load_target(llama, target_layout(llama), max_length=64, device="cpu"), LlamaTarget)
    assert isinstance(load_target(qwen, target_layout(qwen), max_length=64, device="cpu"), TransformersTarget)


def test_model_that_is_spread_over_devices_gives_the_same_states(qwen: Path) -> None:
    layout, ids = target_layout(qwen), torch.arange(5, 25)
    (alone,) = load_target(qwen, layout, max_length=64, device="cpu", dtype="float32").read([ids])
    (spread,) = load_target(qwen, layout, max_length=64, device="map", dtype="float32").read([ids])
    torch.testing.assert_close(spread.features.cpu(), alone.features)
    torch.testing.assert_close(spread.last_hidden.cpu(), alone.last_hidden)


def test_devices_that_are_not_there_are_refused(qwen: Path) -> None:
    layout = target_layout(qwen)
    with pytest.raises(ConfigError, match="device 'cuda:99' is not there: this host has"):
        load_target(qwen, layout, max_length=64, device="cuda:99")
    with pytest.raises(ConfigError, match="device 'gpu': known are auto, map, cpu, cuda and cuda:N"):
        load_target(qwen, layout, max_length=64, device="gpu")


def test_folder_that_transformers_cannot_load_is_named(qwen: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "never heard of"}')
    with pytest.raises(ConfigError, match="transformers cannot load this model"):
        load_target(tmp_path, target_layout(qwen), max_length=64, device="cpu")


@pytest.fixture
def with_code(tmp_path: Path) -> Path:
    """A model whose folder brings code that leaves a mark when it runs."""
    mark = tmp_path / "mark"
    (tmp_path / "own.py").write_text(f"open({str(mark)!r}, 'w').close()\nclass OwnConfig: pass\n")
    (tmp_path / "config.json").write_text('{"model_type": "own", "auto_map": {"AutoConfig": "own.OwnConfig"}}')
    return tmp_path


def test_code_in_a_models_folder_is_not_run_unless_it_is_allowed(
    with_code: Path, qwen: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path_factory.mktemp("modules")))
    with pytest.raises(ConfigError, match="transformers cannot load this model"):
        load_target(with_code, target_layout(qwen), max_length=64, device="cpu")
    assert not (with_code / "mark").exists()


def test_pickled_weights_of_a_target_are_not_loaded(qwen: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((qwen / "config.json").read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(ConfigError, match="transformers cannot load this model"):
        load_target(tmp_path, target_layout(qwen), max_length=64, device="cpu")
