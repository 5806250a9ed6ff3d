"""The drafter's sizes, and the config.json that SGLang reads them from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.errors import ConfigError
from pipeline.feature_layers import FeatureLayers
from pipeline.rope import RopeConfig

ARCHITECTURE = "LlamaForCausalLMEagle3"


@dataclass(frozen=True, kw_only=True)
class DrafterConfig:
    """One Llama layer beside a target model. Sizes are numbers of elements."""

    hidden_size: int
    """Of the drafter and of its target, whose embedding it uses."""
    intermediate_size: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int
    """Of the target."""
    draft_vocab_size: int
    max_position_embeddings: int
    """The target's context: a shorter one cuts drafting off in the middle of long answers."""
    rms_norm_eps: float
    rope: RopeConfig
    feature_layers: FeatureLayers
    bos_token_id: int | None = None
    eos_token_id: int | tuple[int, ...] | None = None
    pad_token_id: int | None = None

    def __post_init__(self) -> None:
        if self.num_attention_heads % self.num_key_value_heads:
            raise ConfigError(
                f"{self.num_attention_heads} heads cannot share {self.num_key_value_heads} key-value heads evenly"
            )
        if self.head_dim % 2:
            raise ConfigError(f"head_dim must be even for RoPE, not {self.head_dim}")
        if not 0 < self.draft_vocab_size <= self.vocab_size:
            raise ConfigError(f"a draft vocabulary of {self.draft_vocab_size} does not fit into {self.vocab_size} tokens")


def text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The language model's part of a target's config.json: multimodal models nest it."""
    nested = config.get("text_config") or config.get("llm_config")
    return nested if isinstance(nested, Mapping) else config


def for_target(
    target: Mapping[str, Any], *, draft_vocab_size: int, feature_layers: FeatureLayers | None = None, **overrides: int
) -> DrafterConfig:
    """Sizes that fit a target's config.json. `overrides` replaces single sizes, such as intermediate_size for a MoE target.

    Raises ConfigError that names what the target's config lacks.
    """
    text = text_config(target)

    def size(name: str) -> int:
        value = overrides.get(name, text.get(name))
        if not isinstance(value, int) or isinstance(value, bool):
            raise ConfigError(f"config.json has no {name}, or not a whole number")
        return value

    heads = size("num_attention_heads")
    ids = {name: text.get(name, target.get(name)) for name in ("bos_token_id", "eos_token_id", "pad_token_id")}
    eos = ids["eos_token_id"]
    return DrafterConfig(
        hidden_size=size("hidden_size"),
        intermediate_size=size("intermediate_size"),
        num_attention_heads=heads,
        num_key_value_heads=overrides.get("num_key_value_heads") or text.get("num_key_value_heads") or heads,
        head_dim=overrides.get("head_dim") or text.get("head_dim") or size("hidden_size") // heads,
        vocab_size=size("vocab_size"),
        draft_vocab_size=draft_vocab_size,
        max_position_embeddings=size("max_position_embeddings"),
        rms_norm_eps=float(text.get("rms_norm_eps", 1e-6)),
        rope=RopeConfig.from_model_config(text),
        feature_layers=feature_layers or FeatureLayers.default(size("num_hidden_layers")),
        bos_token_id=ids["bos_token_id"],
        eos_token_id=tuple(eos) if isinstance(eos, list) else eos,
        pad_token_id=ids["pad_token_id"],
    )


def to_json(config: DrafterConfig, *, dtype: str) -> dict[str, Any]:
    """config.json of an exported drafter. `dtype` is the name of the weights' type, such as "bfloat16"."""
    eos = config.eos_token_id
    return {
        "architectures": [ARCHITECTURE],
        "model_type": "llama",
        "num_hidden_layers": 1,
        "hidden_size": config.hidden_size,
        "target_hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_attention_heads": config.num_attention_heads,
        "num_key_value_heads": config.num_key_value_heads,
        "head_dim": config.head_dim,
        "vocab_size": config.vocab_size,
        "draft_vocab_size": config.draft_vocab_size,
        "max_position_embeddings": config.max_position_embeddings,
        "rms_norm_eps": config.rms_norm_eps,
        **config.rope.to_model_config(),
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": False,
        "eagle_config": {
            "eagle_aux_hidden_state_layer_ids": list(config.feature_layers.sglang),
            "use_aux_hidden_state": True,
        },
        "bos_token_id": config.bos_token_id,
        "eos_token_id": list(eos) if isinstance(eos, tuple) else eos,
        "pad_token_id": config.pad_token_id,
        "dtype": dtype,
        "torch_dtype": dtype,
    }


def from_json(values: Mapping[str, Any]) -> DrafterConfig:
    """Read a drafter's config.json. Raises ConfigError that names the first key at fault."""
    if ARCHITECTURE not in (values.get("architectures") or []):
        raise ConfigError(f"architectures is {values.get('architectures')!r}, not [{ARCHITECTURE!r}]")
    eagle = values.get("eagle_config")
    layer_ids = eagle.get("eagle_aux_hidden_state_layer_ids") if isinstance(eagle, Mapping) else None
    if not isinstance(layer_ids, list) or not all(isinstance(i, int) for i in layer_ids):
        raise ConfigError("eagle_config.eagle_aux_hidden_state_layer_ids is missing")
    if not isinstance(values.get("draft_vocab_size"), int):
        raise ConfigError("draft_vocab_size is missing")
    if values.get("target_hidden_size", values.get("hidden_size")) != values.get("hidden_size"):
        raise ConfigError("target_hidden_size differs from hidden_size, which this drafter cannot express")
    return for_target(
        values, draft_vocab_size=values["draft_vocab_size"], feature_layers=FeatureLayers.from_sglang(tuple(layer_ids))
    )


def expected_shapes(config: DrafterConfig) -> dict[str, tuple[int, ...]]:
    """Tensor names of a checkpoint with their shapes: what SGLang loads, `t2d` aside."""
    hidden, inner, head = config.hidden_size, config.intermediate_size, config.head_dim
    queries, keys = config.num_attention_heads * head, config.num_key_value_heads * head
    return {
        "d2t": (config.draft_vocab_size,),
        "t2d": (config.vocab_size,),
        "fc.weight": (hidden, len(config.feature_layers.hidden_states) * hidden),
        "midlayer.input_layernorm.weight": (hidden,),
        "midlayer.hidden_norm.weight": (hidden,),
        "midlayer.self_attn.q_proj.weight": (queries, 2 * hidden),
        "midlayer.self_attn.k_proj.weight": (keys, 2 * hidden),
        "midlayer.self_attn.v_proj.weight": (keys, 2 * hidden),
        "midlayer.self_attn.o_proj.weight": (hidden, queries),
        "midlayer.post_attention_layernorm.weight": (hidden,),
        "midlayer.mlp.gate_proj.weight": (inner, hidden),
        "midlayer.mlp.up_proj.weight": (inner, hidden),
        "midlayer.mlp.down_proj.weight": (hidden, inner),
        "norm.weight": (hidden,),
        "lm_head.weight": (config.draft_vocab_size, hidden),
    }
