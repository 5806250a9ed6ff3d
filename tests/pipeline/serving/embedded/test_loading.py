"""Which runner serves which model, and what is refused at the start."""

from dataclasses import replace
from pathlib import Path

import pytest
from transformers import MistralConfig

from pipeline.errors import ConfigError
from pipeline.serving.embedded.llama import LlamaRunner
from pipeline.serving.embedded.loading import LoadOptions, load
from pipeline.serving.embedded.transformers_runner import TransformersRunner, check_supported
from tests.support.tiny_model import CONTEXT, EOS, SHAPE


def options(folder: Path) -> LoadOptions:
    return LoadOptions(model=folder, dtype="float32", device="cpu", threads=1, slots=2, context_length=None)


def test_a_llama_gets_the_written_out_forward(llama_folder: Path) -> None:
    model = load(options(llama_folder))
    assert isinstance(model.runner, LlamaRunner)
    assert (model.runner.slots, model.runner.context_length, model.eos_ids) == (2, CONTEXT, frozenset([EOS]))
    assert model.max_total_tokens == 2 * CONTEXT


def test_other_families_get_transformers_own(qwen_folder: Path) -> None:
    assert isinstance(load(options(qwen_folder)).runner, TransformersRunner)


def test_context_length_can_be_shorter_but_not_longer_than_the_models(llama_folder: Path) -> None:
    lengths = [load(replace(options(llama_folder), context_length=n)).runner.context_length for n in (100, 10_000)]
    assert lengths == [100, CONTEXT]


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no model in .*: config\.json is missing"):
        load(options(tmp_path))


def test_sliding_windows_are_refused() -> None:
    config = MistralConfig(**SHAPE)
    config.layer_types = ["sliding_attention", "full_attention"]
    with pytest.raises(ConfigError, match="full attention only; this one has sliding_attention"):
        check_supported(config)


def test_a_model_that_brings_code_is_refused_and_its_code_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w').close()\nclass OwnConfig: pass\n")
    (tmp_path / "config.json").write_text('{"model_type": "own", "auto_map": {"AutoConfig": "own.OwnConfig"}}')
    with pytest.raises(ConfigError, match="unknown kind, or brings code of its own"):
        load(options(tmp_path))
    assert not (tmp_path / "mark").exists()
