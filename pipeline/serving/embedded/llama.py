"""The Llama family, written out: what transformers computes, without what it costs to be general.

Weights are taken over from a loaded transformers model. Checked token by token against transformers in float32.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (the field's own abbreviation)
from transformers import LlamaForCausalLM

from pipeline.serving.embedded.cache import SlotCache
from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.grouped_attention import GroupedAttention, attend_prompt
from pipeline.serving.embedded.linear import prepare
from pipeline.serving.embedded.packed_layer import Attend, PackedLayer
from pipeline.serving.embedded.rms_norm import RMSNorm
from pipeline.serving.embedded.rotary import Rotary
from pipeline.serving.embedded.runner import HiddenStates, check_layers


class LlamaRunner:
    def __init__(self, model: LlamaForCausalLM, cache: SlotCache) -> None:
        config: Any = model.config
        self._cache = cache
        self.slots = len(cache.lengths)
        self.context_length = cache.context
        self.vocab_size = int(config.vocab_size)
        self.hidden_size = int(config.hidden_size)
        # A copy: the original may be a piece of the mapped file, and would keep the whole of it in memory.
        self.embedding: Tensor = model.model.embed_tokens.weight.detach().clone()
        eps = float(config.rms_norm_eps)
        self._input_norms = [RMSNorm(layer.input_layernorm.weight, eps) for layer in model.model.layers]
        self._layers = [_packed(layer, cache.head_dim, eps) for layer in model.model.layers]
        self.layers = len(self._layers)
        self._norm = RMSNorm(model.model.norm.weight, eps)
        self._head = prepare(model.lm_head.weight.detach())
        self._rotary = _rotary(model, cache)
        self._watched: tuple[int, ...] = ()
        self.states: HiddenStates | None = None

    def watch(self, layers: Sequence[int]) -> None:
        self._watched, self.states = check_layers(layers, self.layers), None

    @torch.inference_mode()
    def extend(self, slot: int, ids: Sequence[int]) -> Tensor:
        start, count = self._cache.lengths[slot], len(ids)
        positions = torch.arange(start, start + count, device=self._cache.device)
        hidden = self._forward(ids, positions, lambda layer: attend_prompt(self._cache, layer, slot))
        self._cache.grow(slot, count)
        return self._logits(hidden[-1:])[0]

    @torch.inference_mode()
    def verify(self, drafts: Sequence[Draft]) -> Tensor:
        plan = self._cache.plan(drafts)
        attention = GroupedAttention(self._cache, plan, self._layers[0].heads)
        ids = [token for draft in drafts for token in draft.tokens]
        return self._logits(self._forward(ids, plan.positions, attention.of_layer))

    def keep(self, slot: int, nodes: Sequence[int]) -> None:
        self._cache.keep(slot, nodes)

    def move(self, source: int, target: int) -> None:
        self._cache.move(source, target)

    def clear(self, slot: int) -> None:
        self._cache.clear(slot)

    def _forward(self, ids: Sequence[int], positions: Tensor, attend_in: Callable[[int], Attend]) -> Tensor:
        """All layers: [n, hidden], before the final norm."""
        factors = self._rotary.at(positions)
        watched = []
        hidden = F.embedding(torch.tensor(ids, device=self._cache.device), self.embedding)  # [n, hidden]
        for index, (norm, layer) in enumerate(zip(self._input_norms, self._layers, strict=True)):
            if index in self._watched:
                watched.append(hidden)
            hidden = layer(norm(hidden), hidden, factors, attend_in(index))
        if watched:
            self.states = HiddenStates(torch.cat(watched, dim=-1), hidden)
        return hidden

    def _logits(self, hidden: Tensor) -> Tensor:
        return self._head(self._norm(hidden)).float()


def _packed(layer: Any, head_dim: int, eps: float) -> PackedLayer:  # noqa: ANN401  (a layer of transformers)
    attention, mlp = layer.self_attn, layer.mlp
    return PackedLayer(
        queries=attention.q_proj.weight.detach(),
        keys=attention.k_proj.weight.detach(),
        values=attention.v_proj.weight.detach(),
        out=attention.o_proj.weight.detach(),
        post_norm=layer.post_attention_layernorm.weight.detach(),
        gate=mlp.gate_proj.weight.detach(),
        up=mlp.up_proj.weight.detach(),
        down=mlp.down_proj.weight.detach(),
        head_dim=head_dim,
        eps=eps,
    )


def _rotary(model: LlamaForCausalLM, cache: SlotCache) -> Rotary:
    weight, config = model.model.embed_tokens.weight, model.config
    positions = torch.arange(cache.context, device=weight.device)[None]
    with torch.inference_mode():
        cos, sin = model.model.rotary_emb(weight, positions)  # [1, context, head_dim] each
    turned = config.num_attention_heads + cache.kv_heads
    return Rotary(cos[0], sin[0], turned=turned, heads=turned + cache.kv_heads)
