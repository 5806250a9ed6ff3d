"""Rotary position embedding: frequencies from theta and a scaling rule, and the rotation itself."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from pipeline.errors import ConfigError

SCALING_KEYS = ("linear", "llama3", "yarn")


@dataclass(frozen=True)
class RopeConfig:
    """Theta and, when the target stretches its context, the rule it does so by (`rope_type` and that type's own keys)."""

    theta: float
    scaling: Mapping[str, Any] = field(default_factory=dict)
    """Empty for plain RoPE."""

    def __post_init__(self) -> None:
        if self.scaling and self.scaling.get("rope_type") not in SCALING_KEYS:
            kind = self.scaling.get("rope_type")
            raise ConfigError(f"RoPE scaling {kind!r} is not supported; known are {', '.join(SCALING_KEYS)}")

    @classmethod
    def from_model_config(cls, config: Mapping[str, Any]) -> "RopeConfig":
        """Read `rope_parameters` (transformers 5) or `rope_theta` with `rope_scaling` (before).

        Where layer kinds have parameters of their own, those of full attention are taken. Raises ConfigError without a theta.
        """
        found: dict[str, Any] = dict(config.get("rope_scaling") or {})
        parameters = dict(config.get("rope_parameters") or {})
        found |= parameters.get("full_attention", parameters)
        theta = found.pop("rope_theta", config.get("rope_theta"))
        if not isinstance(theta, int | float):
            raise ConfigError("the config names no rope_theta")
        kind = found.pop("rope_type", found.pop("type", "default"))
        found.pop("type", None)
        # The drafter rotates whole heads, whatever share of a head its target rotates.
        found.pop("partial_rotary_factor", None)
        return cls(float(theta), {} if kind == "default" else {"rope_type": kind, **found})

    def to_model_config(self) -> dict[str, Any]:
        """The keys of a model's config.json, for readers of both generations."""
        keys: dict[str, Any] = {
            "rope_theta": self.theta,
            "rope_parameters": {"rope_type": "default", **self.scaling, "rope_theta": self.theta},
        }
        return keys | ({"rope_scaling": dict(self.scaling)} if self.scaling else {})


def frequencies(rope: RopeConfig, head_dim: int) -> tuple[Tensor, float]:
    """Inverse frequencies, float64 [head_dim/2], and the factor by which cosine and sine are multiplied."""
    plain = rope.theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    if not rope.scaling:
        return plain, 1.0
    factor = float(rope.scaling["factor"])
    if rope.scaling["rope_type"] == "linear":
        return plain / factor, 1.0
    if rope.scaling["rope_type"] == "llama3":
        return _llama3(plain, factor, rope.scaling), 1.0
    return _yarn(plain, factor, rope.theta, head_dim, rope.scaling), _yarn_attention_factor(factor, rope.scaling)


def _llama3(plain: Tensor, factor: float, scaling: Mapping[str, Any]) -> Tensor:
    """Keep short wavelengths, stretch long ones, blend between."""
    low, high = float(scaling["low_freq_factor"]), float(scaling["high_freq_factor"])
    turns = float(scaling["original_max_position_embeddings"]) * plain / (2 * math.pi)
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return kept * plain + (1 - kept) * plain / factor


def _yarn(plain: Tensor, factor: float, theta: float, head_dim: int, scaling: Mapping[str, Any]) -> Tensor:
    """Keep the dimensions that turn more than beta_fast times in the original context, stretch those below beta_slow."""

    def dimension(turns: float) -> float:
        context = float(scaling["original_max_position_embeddings"])
        return head_dim * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(theta))

    low, high = dimension(float(scaling.get("beta_fast") or 32)), dimension(float(scaling.get("beta_slow") or 1))
    if scaling.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, head_dim - 1)
    ramp = (torch.arange(head_dim // 2, dtype=torch.float64) - low) / (max(high - low, 0.001))
    stretched = ramp.clamp(0, 1)
    return (1 - stretched) * plain + stretched * plain / factor


def _yarn_attention_factor(factor: float, scaling: Mapping[str, Any]) -> float:
    def mscale(weight: float) -> float:
        return 1.0 if factor <= 1 else 0.1 * weight * math.log(factor) + 1.0

    if scaling.get("attention_factor") is not None:
        return float(scaling["attention_factor"])
    if scaling.get("mscale") and scaling.get("mscale_all_dim"):
        return mscale(float(scaling["mscale"])) / mscale(float(scaling["mscale_all_dim"]))
    return mscale(1.0)


def rotations(positions: Tensor, inverse: Tensor, factor: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosine and sine, [rows, 1, head_dim/2], of int64 positions [rows].

    Angles are float64, as late positions would lose digits otherwise.
    """
    angles = positions.to(inverse.dtype)[:, None, None] * inverse  # [rows, 1, head_dim/2]
    return (angles.cos() * factor).to(dtype), (angles.sin() * factor).to(dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn dimension i with dimension i + head_dim/2 (the half-split layout of Llama). x: [rows, heads, head_dim]."""
    first, second = x.chunk(2, dim=-1)  # [rows, heads, head_dim/2] each
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
