import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from pipeline.datasets.conversation import new_conversation
from pipeline.errors import DataError
from pipeline.gguf_llama import convert
from pipeline.tokens import PromptTokenizer
from tests.support.gguf_file import LAYERS, tiny_gguf
from tests.support.models import smollm2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    convert(tiny_gguf(tmp_path / "tiny.gguf"), made)
    return made


def test_tensors_have_transformers_names_and_shapes(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    assert len(shapes) == 9 * LAYERS + 2
    assert shapes["model.embed_tokens.weight"] == (261, 64)
    assert shapes["model.layers.1.self_attn.k_proj.weight"] == (32, 64)
    assert shapes["model.layers.1.mlp.down_proj.weight"] == (64, 96)
    assert {tensor.dtype for tensor in tensors.values()} == {np.dtype("float32")}


def test_the_config_says_what_the_file_said(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    known: dict[str, Any] = {
        "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
        "intermediate_size": 96, "vocab_size": 261, "max_position_embeddings": 512, "rms_norm_eps": 1e-05,
        "rope_theta": 10000.0, "tie_word_embeddings": True, "bos_token_id": 1, "eos_token_id": 2,
    }  # fmt: skip
    assert {name: config[name] for name in known} == known


def test_the_tokenizer_splits_digits_off_and_knows_its_control_tokens(folder: Path) -> None:
    tokenizer = PromptTokenizer.load(folder)
    ids = tokenizer.encode(new_conversation(label="", messages=({"role": "user", "content": "the the 17"},)))
    assert [tokenizer.decode([i], skip_special_tokens=False) for i in ids] == [
        "<|im_start|>", "t", "h", "e", " th", "e", " ", "1", "7", "<|im_end|>"
    ]  # fmt: skip
    assert (tokenizer.vocab_size, tokenizer.eos_token_ids) == (261, (2,))


@pytest.mark.slow
def test_weights_equal_what_transformers_makes(tmp_path: Path, folder: Path) -> None:
    transformers: Any = pytest.importorskip("transformers")
    options = {"gguf_file": "tiny.gguf", "quantization_config": transformers.GgufConfig(dequantize=True), "dtype": "float32"}
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, **options).state_dict()
    ours = transformers.AutoModelForCausalLM.from_pretrained(folder).state_dict()
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[name].numpy(), theirs[name].numpy()) for name in ours)


@pytest.mark.slow
def test_the_demo_model_answers() -> None:
    transformers: Any = pytest.importorskip("transformers")
    model = transformers.AutoModelForCausalLM.from_pretrained(smollm2())
    tokenizer = PromptTokenizer.load(smollm2())
    question = {"role": "user", "content": "What is the capital of Peru?"}
    ids = tokenizer.encode(new_conversation(label="", messages=(question,)))
    torch: Any = pytest.importorskip("torch")
    answer = model.generate(torch.tensor([ids]), max_new_tokens=12, do_sample=False)[0].tolist()[len(ids) :]
    assert tokenizer.decode(answer) == "The capital of Peru is Lima."
    assert answer[-1] in tokenizer.eos_token_ids


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"architecture": "gpt2"}, r"other\.gguf: the architecture is gpt2, only llama can be converted"),
        ({"pre": "qwen2"}, "the tokenizer's way to split text is qwen2, known is smollm"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, options: dict[str, str], words: str) -> None:
    with pytest.raises(DataError, match=words):
        convert(tiny_gguf(tmp_path / "other.gguf", **options), tmp_path)
