"""The Llama family, written out: what transformers computes, without what it costs to be general.

Weights are taken over from a loaded transformers model and fused (q, k, v in one product; gate and up in another). Checked
token by token against transformers in float32.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (the field's own abbreviation)
from transformers import LlamaForCausalLM

from pipeline.serving.embedded.cache import SlotCache
from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.grouped_attention import GroupedAttention
from pipeline.serving.embedded.linear import prepare
from pipeline.serving.embedded.runner import HiddenStates, check_layers

Product = Callable[[Tensor], Tensor]
Attend = Callable[[int, Tensor, Tensor], Tensor]
"""Attention of layer i: queries [n, heads, head_dim], keys and values [2, n, kv_heads, head_dim] → [n, heads · head_dim]."""


@dataclass(frozen=True)
class _Layer:
    input_norm: Tensor
    qkv: Product
    """hidden → (heads + 2 · kv_heads) · head_dim."""
    out: Product
    post_norm: Tensor
    gate_up: Product
    """hidden → 2 · intermediate."""
    down: Product


class LlamaRunner:
    def __init__(self, model: LlamaForCausalLM, cache: SlotCache) -> None:
        config: Any = model.config
        self._cache = cache
        self.slots = len(cache.lengths)
        self.context_length = cache.context
        self.vocab_size = int(config.vocab_size)
        self.hidden_size = int(config.hidden_size)
        self._head_dim = cache.layers[0].shape[-1]
        self._heads = int(config.num_attention_heads)
        self._kv_heads = int(config.num_key_value_heads)
        self._eps = float(config.rms_norm_eps)
        self.embedding = _own(model.model.embed_tokens)
        self._layers = [_fused(layer) for layer in model.model.layers]
        self.layers = len(self._layers)
        self._norm = _own(model.model.norm)
        self._head = prepare(model.lm_head.weight.detach())
        self._cos, self._sin = _rotary(model, cache.context)
        self._watched: tuple[int, ...] = ()
        self.states: HiddenStates | None = None

    def watch(self, layers: Sequence[int]) -> None:
        self._watched, self.states = check_layers(layers, self.layers), None

    @torch.inference_mode()
    def extend(self, slot: int, ids: Sequence[int]) -> Tensor:
        start, count = self._cache.lengths[slot], len(ids)
        cos, sin = self._cos[start : start + count, None], self._sin[start : start + count, None]  # [n, 1, head_dim]
        mask = None
        if start:
            mask = torch.ones(count, start + count, dtype=torch.bool, device=self._cache.device).tril(start)

        def attend(index: int, queries: Tensor, keys_values: Tensor) -> Tensor:
            block = self._cache.append(index, slot, keys_values[0], keys_values[1])  # [2, all, kv_heads, head_dim]
            keys, values = block.transpose(1, 2)[:, None]  # [1, kv_heads, all, head_dim] each
            mixed = F.scaled_dot_product_attention(
                queries.transpose(0, 1)[None], keys, values, mask, is_causal=mask is None, enable_gqa=True
            )  # [1, heads, n, head_dim]
            return mixed[0].transpose(0, 1).reshape(count, -1)

        hidden = self._forward(ids, cos, sin, attend)
        self._cache.grow(slot, count)
        return self._logits(hidden[-1:])[0]

    def decode(self, tokens: Sequence[int]) -> Tensor:
        logits = self.verify([Draft((token,)) for token in tokens])
        for slot in range(len(tokens)):
            self._cache.grow(slot, 1)
        return logits

    @torch.inference_mode()
    def verify(self, drafts: Sequence[Draft]) -> Tensor:
        plan = self._cache.plan(drafts)
        cos, sin = self._cos[plan.positions, None], self._sin[plan.positions, None]  # [rows, 1, head_dim]
        attention = GroupedAttention(plan, self._kv_heads, self._heads // self._kv_heads)

        def attend(index: int, queries: Tensor, keys_values: Tensor) -> Tensor:
            return attention(queries, self._cache.write(index, plan, keys_values))

        return self._logits(self._forward([token for draft in drafts for token in draft.tokens], cos, sin, attend))

    def keep(self, slot: int, nodes: Sequence[int]) -> None:
        self._cache.keep(slot, nodes)

    def move(self, source: int, target: int) -> None:
        self._cache.move(source, target)

    def clear(self, slot: int) -> None:
        self._cache.clear(slot)

    def _forward(self, ids: Sequence[int], cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        """All layers: [n, hidden], before the final norm."""
        watched = []
        hidden = F.embedding(torch.tensor(ids, device=self._cache.device), self.embedding)  # [n, hidden]
        for index, layer in enumerate(self._layers):
            if index in self._watched:
                watched.append(hidden)
            queries, keys_values = self._project(layer, hidden, cos, sin)
            hidden = self._finish(layer, hidden, attend(index, queries, keys_values))
        if watched:
            self.states = HiddenStates(torch.cat(watched, dim=-1), hidden)
        return hidden

    def _project(self, layer: _Layer, hidden: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        """Queries [n, heads, head_dim], rotated, and keys and values [2, n, kv_heads, head_dim], keys rotated."""
        rows = layer.qkv(self._normed(hidden, layer.input_norm)).view(len(hidden), -1, self._head_dim)
        turned = self._heads + self._kv_heads
        rotated = _rotate(rows[:, :turned], cos, sin)
        return rotated[:, : self._heads], torch.stack((rotated[:, self._heads :], rows[:, turned:]))

    def _finish(self, layer: _Layer, hidden: Tensor, mixed: Tensor) -> Tensor:
        """Everything of a layer after its attention, [n, hidden]."""
        hidden = hidden + layer.out(mixed)
        gate, up = layer.gate_up(self._normed(hidden, layer.post_norm)).chunk(2, dim=-1)
        return hidden + layer.down(F.silu(gate) * up)

    def _logits(self, hidden: Tensor) -> Tensor:
        return self._head(self._normed(hidden, self._norm)).float()

    def _normed(self, hidden: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(hidden, weight.shape, weight, self._eps)


def _own(module: Any) -> Tensor:  # noqa: ANN401  (a module of transformers)
    """A copy of its weight: the original may be a piece of the mapped file, and would keep the whole of it in memory."""
    weight: Tensor = module.weight.detach().clone()
    return weight


def _fused(layer: Any) -> _Layer:  # noqa: ANN401  (a layer of transformers)
    attention, mlp = layer.self_attn, layer.mlp
    return _Layer(
        input_norm=_own(layer.input_layernorm),
        qkv=prepare(torch.cat([part.weight.detach() for part in (attention.q_proj, attention.k_proj, attention.v_proj)])),
        out=prepare(attention.o_proj.weight.detach()),
        post_norm=_own(layer.post_attention_layernorm),
        gate_up=prepare(torch.cat([mlp.gate_proj.weight.detach(), mlp.up_proj.weight.detach()])),
        down=prepare(mlp.down_proj.weight.detach()),
    )


def _rotary(model: LlamaForCausalLM, context: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines of all positions, [context, head_dim] each; the first half of the sines carries its minus sign."""
    weight = model.model.embed_tokens.weight
    positions = torch.arange(context, device=weight.device)[None]
    with torch.inference_mode():
        cos, sin = model.model.rotary_emb(weight, positions)
    half = sin.shape[-1] // 2
    return cos[0], torch.cat((-sin[0, :, :half], sin[0, :, half:]), dim=-1)


def _rotate(rows: Tensor, cos: Tensor, signed_sin: Tensor) -> Tensor:
    """Rotary embedding of [n, heads, head_dim]."""
    half = rows.shape[-1] // 2
    swapped = torch.cat((rows[..., half:], rows[..., :half]), dim=-1)
    return rows * cos + swapped * signed_sin
