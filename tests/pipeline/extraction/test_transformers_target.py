from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    Gemma3TextConfig,
    GraniteConfig,
    LlamaConfig,
    MistralConfig,
    MixtralConfig,
    PreTrainedConfig,
    Qwen2Config,
    Qwen3Config,
    Qwen3MoeConfig,
)

from pipeline.errors import ConfigError
from pipeline.extraction.transformers_target import TransformersTarget

SHAPE: dict[str, Any] = {
    "vocab_size": 128,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 5,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "initializer_range": 0.2,
}
EXPERTS: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
FAMILIES: dict[str, Callable[[], PreTrainedConfig]] = {
    "llama": lambda: LlamaConfig(**SHAPE),
    "llama-tied": lambda: LlamaConfig(**SHAPE, tie_word_embeddings=True),
    "qwen2": lambda: Qwen2Config(**SHAPE),
    "qwen3": lambda: Qwen3Config(**SHAPE),
    "mistral": lambda: MistralConfig(**SHAPE, sliding_window=8),
    "gemma2": lambda: Gemma2Config(**SHAPE, sliding_window=8, final_logit_softcapping=30.0),
    "gemma3": lambda: Gemma3TextConfig(**SHAPE, sliding_window=8),
    "mixtral": lambda: MixtralConfig(**SHAPE, num_local_experts=4, num_experts_per_tok=2),
    "qwen3-moe": lambda: Qwen3MoeConfig(**SHAPE, **EXPERTS),
}
LAYERS = (1, 2, 4)


def built(config: PreTrainedConfig, dtype: torch.dtype = torch.float32) -> Any:  # noqa: ANN401  (a model of transformers)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=dtype)  # type: ignore[no-untyped-call]
    for name, weight in model.named_parameters():
        if "norm" in name:  # norms of ones would hide whether a state was taken before or after them
            weight.data.copy_(1 + 0.3 * torch.randn_like(weight))
    return model.eval()


def documents(*lengths: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randint(128, (length,), generator=generator) for length in lengths]


@pytest.mark.parametrize("family", FAMILIES)
def test_states_of_a_padded_batch_are_those_of_single_forwards(family: str) -> None:
    model = built(FAMILIES[family]())
    target = TransformersTarget(model, LAYERS)
    batch = documents(20, 3, 31, 1)
    for ids, states in zip(batch, target.read(batch), strict=True):
        with torch.inference_mode():
            alone = model(input_ids=ids[None], output_hidden_states=True, use_cache=False)
        features = torch.cat([alone.hidden_states[layer][0] for layer in LAYERS], dim=-1)
        torch.testing.assert_close(states.features, features, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(states.last_hidden, alone.hidden_states[-1][0], rtol=1e-4, atol=1e-4)
        assert torch.equal(target.best_tokens(states.last_hidden), alone.logits[0].argmax(-1))


def test_each_layer_says_that_it_begins() -> None:
    begun: list[None] = []
    target = TransformersTarget(built(FAMILIES["llama"]()), LAYERS)
    target.on_layer = lambda: begun.append(None)
    target.read(documents(4, 5))
    assert len(begun) == SHAPE["num_hidden_layers"]


def test_bfloat16_states_are_close_to_float32_ones() -> None:
    batch = documents(12, 7)
    wide = TransformersTarget(built(FAMILIES["qwen3"]()), LAYERS).read(batch)
    narrow = TransformersTarget(built(FAMILIES["qwen3"](), torch.bfloat16), LAYERS).read(batch)
    for one, other in zip(wide, narrow, strict=True):
        assert other.features.dtype == torch.bfloat16
        assert float((one.last_hidden - other.last_hidden.float()).norm() / one.last_hidden.norm()) < 0.05


def test_model_whose_logits_are_more_than_its_head_is_refused() -> None:
    scaled = built(GraniteConfig(**{key: value for key, value in SHAPE.items() if key != "head_dim"}, logits_scaling=8.0))
    with pytest.raises(ConfigError, match="GraniteForCausalLM: its logits are not its head over its last hidden state"):
        TransformersTarget(scaled, LAYERS)
