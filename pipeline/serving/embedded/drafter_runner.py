"""The drafter's forward while decoding: the layer of `pipeline.model`, over a slot cache of its own, weights packed.

Row p of a slot holds token p+1 and the target's features of token p. Rows of guesses, which have the drafter's own output in
place of features, are written behind them and forgotten with `rewind`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (the field's own abbreviation)

from pipeline.model import Drafter
from pipeline.rope import frequencies, rotations
from pipeline.serving.embedded.cache import SlotCache
from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.grouped_attention import GroupedAttention, attend_prompt
from pipeline.serving.embedded.linear import prepare
from pipeline.serving.embedded.packed_layer import Attend, PackedLayer
from pipeline.serving.embedded.rms_norm import RMSNorm
from pipeline.serving.embedded.rotary import Rotary
from pipeline.serving.embedded.row_plan import RowPlan


class DrafterRunner:
    """H hidden size, F feature layers, N draft vocabulary."""

    def __init__(self, drafter: Drafter, *, slots: int, context: int, dtype: torch.dtype) -> None:
        """Takes a copy of the weights in `dtype`. `context`: rows of a slot, guesses included."""
        config, layer = drafter.config, drafter.midlayer
        attention, mlp = layer.self_attn, layer.mlp

        def cast(weight: Tensor) -> Tensor:
            return weight.detach().to(dtype)

        self.feature_layers = config.feature_layers.hidden_states
        self._device = drafter.embedding.device
        self._dtype = dtype
        self._embedding = cast(drafter.embedding)
        self._fc = prepare(cast(drafter.fc.weight))
        self._input_norm = RMSNorm(layer.input_layernorm.weight, config.rms_norm_eps)
        self._hidden_norm = RMSNorm(layer.hidden_norm.weight, config.rms_norm_eps)
        self._layer = PackedLayer(
            queries=cast(attention.q_proj.weight),
            keys=cast(attention.k_proj.weight),
            values=cast(attention.v_proj.weight),
            out=cast(attention.o_proj.weight),
            post_norm=layer.post_attention_layernorm.weight,
            gate=cast(mlp.gate_proj.weight),
            up=cast(mlp.up_proj.weight),
            down=cast(mlp.down_proj.weight),
            head_dim=config.head_dim,
            eps=config.rms_norm_eps,
        )
        self._norm = RMSNorm(drafter.norm.weight, config.rms_norm_eps)
        self._head = prepare(cast(drafter.lm_head.weight))
        self.token_ids = drafter.vocabulary.token_ids
        """int64 [N]: the target's id of each draft id."""
        self._rotary = _rotary(drafter, context, dtype)
        self.cache = SlotCache(
            layers=1,
            slots=slots,
            context=context,
            kv_heads=config.num_key_value_heads,
            head_dim=config.head_dim,
            dtype=dtype,
            device=self._device,
        )

    @torch.inference_mode()
    def extend(self, slot: int, tokens: Sequence[int], features: Tensor) -> None:
        """Read rows of a prompt; features [n, F · H]."""
        start = self.cache.lengths[slot]
        positions = torch.arange(start, start + len(tokens), device=self._device)
        self._forward(tokens, self._fc(features.to(self._dtype)), positions, attend_prompt(self.cache, 0, slot))
        self.cache.grow(slot, len(tokens))

    def read(self, tokens: Sequence[Sequence[int]], features: Tensor) -> Tensor:
        """Read new rows of the first len(tokens) slots, one or more each; features [rows, F · H], slot after slot.

        Returns the output of each slot's last row, [slots, H].
        """
        with torch.inference_mode():
            hidden = self.feed(tokens, self._fc(features.to(self._dtype)))
            return hidden[torch.tensor([len(some) for some in tokens], device=self._device).cumsum(0) - 1]

    @torch.inference_mode()
    def feed(self, tokens: Sequence[Sequence[int]], hidden: Tensor) -> Tensor:
        """The same with the drafter's own outputs in place of features; [rows, H] → [rows, H]."""
        out = self._planned(tokens, hidden, self.cache.plan([Draft(tuple(some)) for some in tokens]))
        for slot, some in enumerate(tokens):
            self.cache.grow(slot, len(some))
        return out

    @torch.inference_mode()
    def branch(self, tokens: Sequence[Sequence[int]], hidden: Tensor, depth: int, seen: Tensor) -> Tensor:
        """Feed a tree's frontier, guessed `depth` steps ahead, as many nodes for each slot; the slots' lengths stay.

        hidden: the output after each node's parent, [slots · nodes, H] → [slots · nodes, H]; seen: see `plan_branches`.
        """
        return self._planned(tokens, hidden, self.cache.plan_branches(len(tokens), depth, seen))

    def _planned(self, tokens: Sequence[Sequence[int]], hidden: Tensor, plan: RowPlan) -> Tensor:
        attend = GroupedAttention(self.cache, plan, self._layer.heads).of_layer(0)
        return self._forward([token for some in tokens for token in some], hidden, plan.positions, attend)

    @torch.inference_mode()
    def logits(self, hidden: Tensor) -> Tensor:
        """[rows, H] → [rows, N]."""
        return self._head(self._norm(hidden))

    def rewind(self, slot: int, rows: int) -> None:
        """Forget the last rows of a slot."""
        self.cache.grow(slot, -rows)

    def _forward(self, tokens: Sequence[int], hidden: Tensor, positions: Tensor, attend: Attend) -> Tensor:
        embedded = F.embedding(torch.tensor(tokens, device=self._device), self._embedding)  # [n, H]
        joined = torch.cat((self._input_norm(embedded), self._hidden_norm(hidden)), dim=-1)  # [n, 2H]
        return self._layer(joined, hidden, self._rotary.at(positions), attend)


def _rotary(drafter: Drafter, context: int, dtype: torch.dtype) -> Rotary:
    config, device = drafter.config, drafter.embedding.device
    inverse, factor = frequencies(config.rope, config.head_dim)
    cos, sin = rotations(torch.arange(context, device=device), inverse.to(device), factor, dtype)  # [context, 1, head_dim/2]
    turned = config.num_attention_heads + config.num_key_value_heads
    heads = turned + config.num_key_value_heads
    return Rotary(cos[:, 0].repeat(1, 2), sin[:, 0].repeat(1, 2), turned=turned, heads=heads)
