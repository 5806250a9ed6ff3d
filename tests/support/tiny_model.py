"""Models of a few thousand weights, random but always the same, saved the way that real ones are."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedConfig, PreTrainedTokenizerFast, Qwen2Config

VOCAB_SIZE = 300
EOS = 2
CONTEXT = 256

SHAPE: dict[str, Any] = {
    "vocab_size": VOCAB_SIZE,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
    "bos_token_id": 1,
    "eos_token_id": EOS,
    # Large weights, so that the likeliest token stands out and greedy answers do not hang on rounding.
    "initializer_range": 0.3,
}


def tiny_llama() -> LlamaConfig:
    return LlamaConfig(**SHAPE, tie_word_embeddings=True)


def tiny_qwen2() -> Qwen2Config:
    """A family whose attention has biases: served by transformers' own forward."""
    return Qwen2Config(**SHAPE)


def save_tiny_model(config: PreTrainedConfig, folder: Path) -> Path:
    """A folder with random weights and a tokenizer of one word an id: `w3 w4 …`, `<eos>` and `<bos>` special."""
    torch.manual_seed(0)
    model: Any = AutoModelForCausalLM.from_config(config, dtype=torch.float32)  # type: ignore[no-untyped-call]
    model.save_pretrained(folder)
    words = {"<unk>": 0, "<bos>": 1, "<eos>": EOS} | {f"w{n}": n for n in range(3, VOCAB_SIZE)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)  # type: ignore[no-untyped-call]
    fast.save_pretrained(folder)
    return folder
