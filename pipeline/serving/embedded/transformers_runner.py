"""Any causal language model of transformers with full attention, over the slot cache.

The model sees the cache through `update`, and gets its mask and positions ready-made, so that requests of different lengths
share one forward.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache

from pipeline.errors import ConfigError
from pipeline.serving.embedded.cache import SlotCache
from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.row_plan import RowPlan
from pipeline.serving.embedded.runner import HiddenStates, check_layers


class TransformersRunner:
    def __init__(self, model: PreTrainedModel, cache: SlotCache) -> None:
        config = model.config.get_text_config()
        self._model: Any = model
        self._cache = cache
        self.slots = len(cache.lengths)
        self.context_length = cache.context
        self.vocab_size = int(config.vocab_size)
        self.hidden_size = int(config.hidden_size)
        self.layers = int(config.num_hidden_layers)
        self._taps: dict[int, Tensor] = {}
        """Inputs of the watched layers, and of the final norm under the number after the last layer's."""
        self._hooks: list[Any] = []
        self.states: HiddenStates | None = None

    @property
    def embedding(self) -> Tensor:
        weight: Tensor = self._model.get_input_embeddings().weight.detach()
        return weight

    def watch(self, layers: Sequence[int]) -> None:
        layers = check_layers(layers, self.layers)
        for hook in self._hooks:
            hook.remove()
        self._hooks, self._taps, self.states = [], {}, None
        if layers:
            decoder = self._model.get_decoder()
            watched = [*((index, decoder.layers[index]) for index in layers), (self.layers, decoder.norm)]
            self._hooks = [module.register_forward_pre_hook(self._tap(index), with_kwargs=True) for index, module in watched]

    def _tap(self, index: int) -> Callable[[Any, tuple[Any, ...], dict[str, Any]], None]:
        def keep(_module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:  # noqa: ANN401
            self._taps[index] = args[0] if args else kwargs["hidden_states"]

        return keep

    @torch.inference_mode()
    def extend(self, slot: int, ids: Sequence[int]) -> Tensor:
        start, count = self._cache.lengths[slot], len(ids)
        positions = torch.arange(start, start + count, device=self._cache.device)
        # [1, 1, count, start + count]: all that was read before, and the prompt's own past.
        mask = positions[:, None] >= torch.arange(start + count, device=self._cache.device)[None]
        tokens = torch.tensor([ids], device=self._cache.device)
        logits = self._forward(tokens, positions[None], mask[None, None], _SlotView(self._cache, slot), keep=1)
        self._cache.grow(slot, count)
        return logits[-1]

    @torch.inference_mode()
    def verify(self, drafts: Sequence[Draft]) -> Tensor:
        plan = self._cache.plan(drafts)
        ids = torch.tensor([token for draft in drafts for token in draft.tokens], device=self._cache.device)
        tokens, positions = (side.view(plan.batch, plan.width) for side in _pad(plan, ids, plan.positions))
        return self._forward(tokens, positions, plan.mask == 0, _PlanView(self._cache, plan), rows=plan.unpadded)

    def _forward(
        self, ids: Tensor, positions: Tensor, mask: Tensor, cache: Cache, *, keep: int = 0, rows: Tensor | None = None
    ) -> Tensor:
        """Logits of the last `keep` tokens, or of all (0), without the padding: [tokens, vocab]."""
        output = self._model(
            input_ids=ids, position_ids=positions, attention_mask=mask, cache=cache, use_cache=True, logits_to_keep=keep
        )
        if self._taps:
            flat = [_unpad(self._taps[index].flatten(0, 1), rows) for index in sorted(self._taps)]
            self.states = HiddenStates(torch.cat(flat[:-1], dim=-1), flat[-1])
        logits: Tensor = output.logits
        return _unpad(logits.flatten(0, 1), rows).float()

    def keep(self, slot: int, nodes: Sequence[int]) -> None:
        self._cache.keep(slot, nodes)

    def move(self, source: int, target: int) -> None:
        self._cache.move(source, target)

    def clear(self, slot: int) -> None:
        self._cache.clear(slot)


def _pad(plan: RowPlan, *sides: Tensor) -> Sequence[Tensor]:
    return sides if plan.padded is None else [side[plan.padded] for side in sides]


def _unpad(flat: Tensor, rows: Tensor | None) -> Tensor:
    return flat if rows is None else flat[rows]


class _SlotView(Cache):
    """The cache as a forward over one slot sees it."""

    def __init__(self, cache: SlotCache, slot: int) -> None:
        super().__init__(layers=[])
        self._slots, self._slot = cache, slot

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_args: Any, **_kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """[1, kv_heads, n, head_dim] in, the same with all tokens of the slot out."""
        keys, values = (states[0].transpose(0, 1) for states in (key_states, value_states))
        block = self._slots.append(layer_idx, self._slot, keys, values).transpose(1, 2)
        return block[0][None], block[1][None]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self._slots.lengths[self._slot]


class _PlanView(Cache):
    """The cache as a forward over a few rows of the first slots sees it."""

    def __init__(self, cache: SlotCache, plan: RowPlan) -> None:
        super().__init__(layers=[])
        self._slots, self._plan, self._held = cache, plan, cache.held(plan)

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_args: Any, **_kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """[batch, kv_heads, width, head_dim] in, [batch, kv_heads, longest, head_dim] out."""
        rows = torch.stack((key_states, value_states)).transpose(2, 3).flatten(1, 2)  # [2, batch · width, kv_heads, head_dim]
        if self._plan.unpadded is not None:
            rows = rows[:, self._plan.unpadded]
        self._slots.write(layer_idx, self._plan, rows)
        return self._held[layer_idx]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self._plan.longest - self._plan.width


def check_supported(config: Any) -> None:  # noqa: ANN401  (a transformers config)
    """Raises ConfigError for a model whose layers keep another kind of state than keys and values of all tokens."""
    kinds = set(getattr(config, "layer_types", None) or ()) - {"full_attention"}
    if kinds or getattr(config, "is_encoder_decoder", False):
        what = ", ".join(sorted(kinds)) or "an encoder"
        raise ConfigError(f"the embedded engine serves models with full attention only; this one has {what}")
