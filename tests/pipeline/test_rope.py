from typing import Any

import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from pipeline.errors import ConfigError
from pipeline.rope import RopeConfig, frequencies, rotate, rotations

SCALED: list[dict[str, Any]] = [
    {"rope_type": "linear", "factor": 4.0},
    {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    {"rope_type": "yarn", "factor": 40.0, "original_max_position_embeddings": 4096},
    {
        "rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096, "mscale": 1.0, "mscale_all_dim": 0.7,
        "beta_fast": 32, "beta_slow": 1,
    },
]  # fmt: skip


@pytest.mark.parametrize("scaling", SCALED)
def test_scaled_frequencies_equal_those_of_transformers(scaling: dict[str, Any]) -> None:
    config = LlamaConfig(hidden_size=512, num_attention_heads=4, max_position_embeddings=131072)
    config.rope_parameters = {"rope_theta": 500_000.0, **scaling}
    expected, expected_factor = ROPE_INIT_FUNCTIONS[scaling["rope_type"]](config, device=torch.device("cpu"))
    found, factor = frequencies(RopeConfig(500_000.0, scaling), 128)
    torch.testing.assert_close(found.float(), expected.float(), rtol=2e-6, atol=0)
    assert factor == pytest.approx(expected_factor)


def test_rotation_equals_that_of_transformers() -> None:
    x = torch.randn(6, 3, 16, generator=torch.Generator().manual_seed(0))
    inverse, factor = frequencies(RopeConfig(10_000.0), 16)
    positions = torch.tensor([0, 1, 5, 100, 4000, 30000])
    cos, sin = rotations(positions, inverse, factor, torch.float32)
    angles = torch.cat([positions[:, None] * inverse] * 2, -1)
    expected, _ = apply_rotary_pos_emb(x[None].transpose(1, 2), x[None].transpose(1, 2), angles.cos()[None], angles.sin()[None])
    torch.testing.assert_close(rotate(x, cos, sin), expected[0].transpose(0, 1).float())


@pytest.mark.parametrize(
    "config",
    [
        {"rope_theta": 7.0, "rope_scaling": None},
        {"rope_parameters": {"rope_theta": 7.0, "rope_type": "default"}},
        {"rope_parameters": {"rope_theta": 7.0, "rope_type": "default", "partial_rotary_factor": 0.5}},
        {
            "rope_parameters": {
                "full_attention": {"rope_theta": 7.0, "rope_type": "default"},
                "sliding_attention": {"rope_theta": 1.0},
            }
        },
    ],
)
def test_theta_is_read_from_every_place(config: dict[str, Any]) -> None:
    assert RopeConfig.from_model_config(config) == RopeConfig(7.0)


def test_scaling_is_read_in_its_old_form_and_written_in_both() -> None:
    rope = RopeConfig.from_model_config({"rope_theta": 7.0, "rope_scaling": {"type": "linear", "factor": 2.0}})
    assert rope.to_model_config() == {
        "rope_theta": 7.0,
        "rope_parameters": {"rope_theta": 7.0, "rope_type": "linear", "factor": 2.0},
        "rope_scaling": {"rope_type": "linear", "factor": 2.0},
    }
    assert RopeConfig.from_model_config(rope.to_model_config()) == rope


def test_lost_theta_and_unknown_scaling_are_refused() -> None:
    with pytest.raises(ConfigError, match="no rope_theta"):
        RopeConfig.from_model_config({"hidden_size": 4})
    with pytest.raises(ConfigError, match="'longrope' is not supported"):
        RopeConfig.from_model_config({"rope_theta": 7.0, "rope_scaling": {"rope_type": "longrope"}})
