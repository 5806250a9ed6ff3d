"""A Llama model of two layers in a GGUF file, with the tokenizer of SmolLM2's kind."""

from pathlib import Path

import gguf
import numpy as np
from tokenizers import pre_tokenizers

HEADS, KV_HEADS, HIDDEN, INNER, LAYERS = 4, 2, 64, 96, 2
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = "{% for message in messages %}<|im_start|>{{ message['content'] }}<|im_end|>{% endfor %}"


def tiny_gguf(path: Path, *, architecture: str = "llama", pre: str = "smollm") -> Path:
    """Random weights, the same ones each time: matrices in Q8_0, norms in float32."""
    tokens = [*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet()), "Ġt", "Ġth"]
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("tiny")
    writer.add_block_count(LAYERS)
    writer.add_context_length(512)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(SPECIAL) + [1] * (len(tokens) - len(SPECIAL)))
    writer.add_token_merges(["Ġ t", "Ġt h"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_chat_template(TEMPLATE)
    _add_tensors(writer, len(tokens))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tensors(writer: gguf.GGUFWriter, vocabulary: int) -> None:
    random = np.random.default_rng(5)
    key_value = HIDDEN // HEADS * KV_HEADS
    matrices = {"token_embd": (vocabulary, HIDDEN)}
    norms = ["output_norm"]
    for i in range(LAYERS):
        matrices |= {
            f"blk.{i}.attn_q": (HIDDEN, HIDDEN),
            f"blk.{i}.attn_k": (key_value, HIDDEN),
            f"blk.{i}.attn_v": (key_value, HIDDEN),
            f"blk.{i}.attn_output": (HIDDEN, HIDDEN),
            f"blk.{i}.ffn_gate": (INNER, HIDDEN),
            f"blk.{i}.ffn_up": (INNER, HIDDEN),
            f"blk.{i}.ffn_down": (HIDDEN, INNER),
        }
        norms += [f"blk.{i}.attn_norm", f"blk.{i}.ffn_norm"]
    for name, shape in matrices.items():
        weights = random.standard_normal(shape, dtype=np.float32)
        packed = gguf.quantize(weights, gguf.GGMLQuantizationType.Q8_0)
        writer.add_tensor(f"{name}.weight", packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    for name in norms:
        writer.add_tensor(f"{name}.weight", random.standard_normal(HIDDEN, dtype=np.float32))
