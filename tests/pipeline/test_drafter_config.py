from typing import Any

import pytest

from pipeline.drafter_config import expected_shapes, for_target, from_json, to_json
from pipeline.errors import ConfigError

TARGET: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 576, "intermediate_size": 1536, "num_attention_heads": 9, "num_key_value_heads": 3,
    "vocab_size": 49152, "num_hidden_layers": 30, "max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "rope_theta": 100000.0,
    "bos_token_id": 1, "eos_token_id": [2, 7],
}  # fmt: skip


def test_config_takes_the_sizes_of_its_target() -> None:
    config = for_target(TARGET, draft_vocab_size=8192)
    assert (config.hidden_size, config.head_dim, config.num_key_value_heads) == (576, 64, 3)
    assert config.max_position_embeddings == 8192
    assert config.rope.theta == 100000.0
    assert config.feature_layers.hidden_states == (2, 15, 27)
    assert config.eos_token_id == (2, 7)


def test_config_reads_a_nested_language_model() -> None:
    nested = {"model_type": "gemma3", "text_config": TARGET | {"head_dim": 128}}
    assert for_target(nested, draft_vocab_size=8192).head_dim == 128


def test_overrides_replace_single_sizes() -> None:
    assert for_target(TARGET, draft_vocab_size=8192, intermediate_size=2048).intermediate_size == 2048


def test_json_holds_every_key_that_servers_read() -> None:
    values = to_json(for_target(TARGET, draft_vocab_size=8192), dtype="bfloat16")
    assert values["architectures"] == ["LlamaForCausalLMEagle3"]
    assert values["eagle_config"] == {"eagle_aux_hidden_state_layer_ids": [1, 14, 26], "use_aux_hidden_state": True}
    assert (values["rope_theta"], values["rope_parameters"]["rope_theta"]) == (100000.0, 100000.0)
    assert (values["num_hidden_layers"], values["draft_vocab_size"], values["target_hidden_size"]) == (1, 8192, 576)
    assert values["tie_word_embeddings"] is False
    assert not {"norm_output", "fc_norm", "norm_before_fc"} & set(values)


def test_json_comes_back_as_the_same_config() -> None:
    config = for_target(TARGET, draft_vocab_size=8192)
    assert from_json(to_json(config, dtype="float32")) == config


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"architectures": ["LlamaForCausalLM"]}, "architectures"),
        ({"eagle_config": None}, "eagle_aux_hidden_state_layer_ids is missing"),
        ({"draft_vocab_size": None}, "draft_vocab_size is missing"),
        ({"intermediate_size": "1536"}, "no intermediate_size"),
        ({"target_hidden_size": 1024}, "target_hidden_size differs"),
        ({"num_key_value_heads": 2}, "cannot share"),
    ],
)
def test_unusable_json_is_refused(change: dict[str, Any], message: str) -> None:
    values = to_json(for_target(TARGET, draft_vocab_size=8192), dtype="float32") | change
    with pytest.raises(ConfigError, match=message):
        from_json(values)


def test_shapes_are_those_of_the_published_layout() -> None:
    shapes = expected_shapes(for_target(TARGET, draft_vocab_size=8192))
    assert shapes["fc.weight"] == (576, 3 * 576)
    assert shapes["lm_head.weight"] == (8192, 576)
    assert shapes["midlayer.self_attn.q_proj.weight"] == (576, 1152)
    assert shapes["midlayer.self_attn.k_proj.weight"] == (192, 1152)
    assert shapes["midlayer.mlp.down_proj.weight"] == (576, 1536)
    assert (shapes["d2t"], shapes["t2d"]) == ((8192,), (49152,))
