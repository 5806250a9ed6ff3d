"""How a new drafter starts: at random, or as close to its target as one layer gets."""

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor, nn

from pipeline.model import Drafter

Scheme = Literal["target", "random"]

SPREAD = 0.02
"""Standard deviation of random weights."""


@torch.no_grad()
def initialise(drafter: Drafter, scheme: Scheme, *, seed: int, head: Tensor, layer: Mapping[str, Tensor]) -> list[str]:
    """Set all weights; returns the names of those that were taken from the target.

    The head always starts as the target's rows of the draft vocabulary: `head` is [V, H]. With "target", `fc` starts as the
    identity on the high feature and the layer as `layer`, a late one of the target under its own tensor names: its attention
    reads the hidden half of the input, and the token half starts near zero. What the target's layer lacks or has in
    another shape (experts, fused or compressed attention) starts at random.
    """
    generator = torch.Generator().manual_seed(seed)
    for module in drafter.modules():
        if isinstance(module, nn.Linear):
            fresh = torch.randn(module.weight.shape, generator=generator) * SPREAD
            module.weight.copy_(fresh)
    drafter.lm_head.weight.copy_(head[drafter.vocabulary.token_ids])
    if scheme == "random":
        return ["lm_head.weight"]

    size = drafter.config.hidden_size
    drafter.fc.weight[:, -size:] += torch.eye(size)
    taken = ["lm_head.weight", "fc.weight"]
    # Families that norm the output of attention too call the norm before the MLP by another name.
    before_mlp = "pre_feedforward_layernorm" if "pre_feedforward_layernorm.weight" in layer else "post_attention_layernorm"
    sources = {
        "hidden_norm": "input_layernorm",
        "post_attention_layernorm": before_mlp,
        **{name: name for name in ("self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")},
    }
    for ours, theirs in sources.items():
        weight, source = drafter.midlayer.get_parameter(f"{ours}.weight"), layer.get(f"{theirs}.weight")
        if source is not None and source.shape == weight.shape:
            weight.copy_(source)
            taken.append(f"midlayer.{ours}.weight")
    for name in ("q_proj", "k_proj", "v_proj"):
        weight, source = drafter.midlayer.get_parameter(f"self_attn.{name}.weight"), layer.get(f"self_attn.{name}.weight")
        if source is not None and source.shape == (weight.shape[0], size):
            weight[:, size:] = source
            taken.append(f"midlayer.self_attn.{name}.weight")
    return taken
