"""A Llama model in one GGUF file → a folder that transformers and SGLang load: safetensors in float32, tokenizer, template.

transformers can do this too, but it parses the file three times and needs half a minute for what takes seven seconds here; a
test holds the tensors of both equal, bit for bit.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader, dequantize
from numpy.typing import NDArray
from safetensors.numpy import save_file

from pipeline.errors import DataError

Weights = NDArray[np.float32]

CONTROL_TOKEN = 3
"""GGUF's token type for special tokens."""

OUTSIDE_LAYERS = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
INSIDE_LAYERS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}

# llama.cpp's "smollm" splits each digit off, then splits by GPT-2's pattern.
PRE_TOKENIZERS = {
    "smollm": {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Digits", "individual_digits": True},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        ],
    },
}


def convert(source: Path, folder: Path) -> None:
    """Write the model in `source` into an existing folder. Raises DataError for a model of another kind."""
    reader = GGUFReader(source)
    if (architecture := _field(reader, "general.architecture")) != "llama":
        raise DataError(f"{source.name}: the architecture is {architecture}, only llama can be converted")
    config = _model_config(reader)
    save_file(_tensors(reader, config), folder / "model.safetensors", metadata={"format": "pt"})
    _write(folder / "config.json", config)
    special = {name: config[name] for name in ("bos_token_id", "eos_token_id", "pad_token_id")}
    _write(folder / "generation_config.json", special)
    tokens: list[str] = _field(reader, "tokenizer.ggml.tokens")
    _write(folder / "tokenizer.json", _tokenizer(reader, tokens))
    names = {name.removesuffix("_id"): tokens[i] for name, i in special.items()}
    length = config["max_position_embeddings"]
    _write(
        folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": length, **names}
    )
    (folder / "chat_template.jinja").write_text(_field(reader, "tokenizer.chat_template"))


def _model_config(reader: GGUFReader) -> dict[str, Any]:
    heads, hidden = _field(reader, "llama.attention.head_count"), _field(reader, "llama.embedding_length")
    eos = _field(reader, "tokenizer.ggml.eos_token_id")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": hidden,
        "intermediate_size": _field(reader, "llama.feed_forward_length"),
        "num_hidden_layers": _field(reader, "llama.block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": _field(reader, "llama.attention.head_count_kv"),
        "head_dim": hidden // heads,
        "hidden_act": "silu",
        "vocab_size": _field(reader, "llama.vocab_size"),
        "max_position_embeddings": _field(reader, "llama.context_length"),
        # GGUF holds this as float32: six digits are what was meant.
        "rms_norm_eps": float(f"{_field(reader, 'llama.attention.layer_norm_rms_epsilon'):.6g}"),
        "rope_theta": _field(reader, "llama.rope.freq_base"),
        "rope_parameters": {"rope_type": "default", "rope_theta": _field(reader, "llama.rope.freq_base")},
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": all(tensor.name != "output.weight" for tensor in reader.tensors),
        "bos_token_id": _field(reader, "tokenizer.ggml.bos_token_id"),
        "eos_token_id": eos,
        "pad_token_id": _field(reader, "tokenizer.ggml.padding_token_id", eos),
        "dtype": "float32",
    }


def _tensors(reader: GGUFReader, config: dict[str, Any]) -> dict[str, Weights]:
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    tensors = {}
    for tensor in reader.tensors:
        weights = dequantize(tensor.data, tensor.tensor_type)
        if (name := OUTSIDE_LAYERS.get(tensor.name)) is None:
            _, layer, part, kind = tensor.name.split(".")
            name = f"model.layers.{layer}.{INSIDE_LAYERS[part]}.{kind}"
            if part in heads:
                weights = _halves(weights, heads[part])
        tensors[name] = np.ascontiguousarray(weights, dtype=np.float32)
    return tensors


def _halves(weights: Weights, heads: int) -> Weights:
    """Rows of each head from GGUF's order (pairs that RoPE rotates side by side) to transformers' (first half, second half)."""
    size = weights.shape[0] // heads
    return weights.reshape(heads, size // 2, 2, -1).swapaxes(1, 2).reshape(weights.shape)  # [heads · size, hidden]


def _tokenizer(reader: GGUFReader, tokens: list[str]) -> dict[str, Any]:
    kind = _field(reader, "tokenizer.ggml.pre")
    if kind not in PRE_TOKENIZERS:
        raise DataError(f"the tokenizer's way to split text is {kind}, known is {', '.join(PRE_TOKENIZERS)}")
    types = _field(reader, "tokenizer.ggml.token_type")
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    special = [i for i, token_type in enumerate(types) if token_type == CONTROL_TOKEN]
    return {
        "version": "1.0",
        "added_tokens": [{"id": i, "content": tokens[i], **flags} for i in special],
        "normalizer": None,
        "pre_tokenizer": PRE_TOKENIZERS[kind],
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "vocab": {token: i for i, token in enumerate(tokens)},
            "merges": [merge.split(" ") for merge in _field(reader, "tokenizer.ggml.merges")],
        },
    }


def _field(reader: GGUFReader, name: str, default: Any = None) -> Any:  # noqa: ANN401  (any GGUF value)
    field = reader.get_field(name)
    if field is None and default is None:
        raise DataError(f"the GGUF file has no {name}")
    return default if field is None else field.contents()


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
