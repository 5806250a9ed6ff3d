import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from pipeline.errors import DataError
from pipeline.target_weights import read_layer, read_target_weights
from pipeline.tensor_files import INDEX

EMBEDDING = torch.arange(12.0).reshape(6, 2)
NORM = torch.tensor([0.5, 2.0])
HEAD = torch.arange(12.0).reshape(6, 2) + 100


def target(folder: Path, tensors: dict[str, torch.Tensor], **config: Any) -> Path:
    folder.mkdir(exist_ok=True)
    save_file({name: tensor.clone() for name, tensor in tensors.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "rms_norm_eps": 1e-5} | config))
    return folder


def decoder(prefix: str = "model.") -> dict[str, torch.Tensor]:
    return {f"{prefix}embed_tokens.weight": EMBEDDING, f"{prefix}norm.weight": NORM}


def test_one_file_without_an_index(tmp_path: Path) -> None:
    weights = read_target_weights(target(tmp_path / "m", decoder() | {"lm_head.weight": HEAD}))
    assert torch.equal(weights.embedding, EMBEDDING)
    assert torch.equal(weights.head, HEAD)
    assert torch.equal(weights.final_norm.weight, NORM)
    assert (weights.final_norm.eps, weights.tied, weights.logit_softcap) == (1e-5, False, None)


def test_many_files_with_an_index(tmp_path: Path) -> None:
    save_file(decoder(), tmp_path / "model-00001-of-00002.safetensors")
    save_file({"lm_head.weight": HEAD}, tmp_path / "model-00002-of-00002.safetensors")
    weight_map = dict.fromkeys(decoder(), "model-00001-of-00002.safetensors")
    weight_map["lm_head.weight"] = "model-00002-of-00002.safetensors"
    (tmp_path / INDEX).write_text(json.dumps({"weight_map": weight_map}))
    (tmp_path / "config.json").write_text("{}")
    assert torch.equal(read_target_weights(tmp_path).head, HEAD)


def test_tied_head_is_the_embedding(tmp_path: Path) -> None:
    weights = read_target_weights(target(tmp_path / "m", decoder()))
    assert weights.tied
    assert torch.equal(weights.head, EMBEDDING)


def test_missing_head_of_an_untied_target_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no lm_head\.weight"):
        read_target_weights(target(tmp_path / "m", decoder(), tie_word_embeddings=False))


@pytest.mark.parametrize(
    ("prefix", "head"),
    [
        ("language_model.model.", "language_model.lm_head.weight"),
        ("model.language_model.", "lm_head.weight"),
        ("model.language_model.", "model.language_model.lm_head.weight"),
    ],
)
def test_nested_language_models_are_found(tmp_path: Path, prefix: str, head: str) -> None:
    nested = decoder(prefix) | {head: HEAD, "vision_tower.embed_tokens.bias": NORM}
    weights = read_target_weights(target(tmp_path / "m", nested, text_config={"rms_norm_eps": 1e-3}))
    assert torch.equal(weights.head, HEAD)
    assert weights.final_norm.eps == 1e-3


@pytest.mark.parametrize("model_type", ["gemma2", "gemma3_text", "qwen3_next"])
def test_shifted_norms_come_out_as_they_multiply(tmp_path: Path, model_type: str) -> None:
    folder = target(tmp_path / "m", decoder(), model_type=model_type, final_logit_softcapping=30.0)
    weights = read_target_weights(folder)
    assert weights.final_norm.weight.tolist() == [1.5, 3.0]
    assert weights.logit_softcap == 30.0


def test_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    folder = target(tmp_path / "m", decoder() | {"model.layers.0.mlp.experts.weight": torch.full((9, 9), float("nan"))})
    assert read_target_weights(folder, dtype=torch.bfloat16).embedding.dtype == torch.bfloat16


def test_layer_is_read_under_its_own_names(tmp_path: Path) -> None:
    layer = {"model.layers.1.input_layernorm.weight": NORM, "model.layers.1.self_attn.q_proj.weight": EMBEDDING}
    stray = {"model.layers.10.input_layernorm.weight": NORM}
    found = read_layer(target(tmp_path / "m", decoder() | layer | stray, model_type="gemma2"), 1)
    assert set(found) == {"input_layernorm.weight", "self_attn.q_proj.weight"}
    assert found["input_layernorm.weight"].tolist() == [1.5, 3.0]
    with pytest.raises(DataError, match="no layer 5"):
        read_layer(tmp_path / "m", 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model.norm.weight": torch.tensor([1.0, float("nan")])}, r"model\.safetensors: model\.norm\.weight: 1 of 2 values"),
        ({"model.norm.weight": torch.ones(3)}, "do not fit together"),
        ({"model.embed_tokens.weight": torch.ones(6, 2, dtype=torch.int8)}, r"embed_tokens\.weight: quantized weights \(I8\)"),
    ],
)
def test_faulty_tensors_are_named(tmp_path: Path, change: dict[str, torch.Tensor], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_target_weights(target(tmp_path / "m", decoder() | change))


def test_folder_without_a_decoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no embed_tokens\.weight"):
        read_target_weights(target(tmp_path / "m", {"x": NORM}))
