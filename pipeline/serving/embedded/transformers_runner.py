"""Any causal language model of transformers with full attention, over the slot cache.

The model sees the cache through `update`, and gets its mask and positions ready-made, so that requests of different lengths
share one forward.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache

from pipeline.errors import ConfigError
from pipeline.serving.embedded.cache import SlotCache


class TransformersRunner:
    def __init__(self, model: PreTrainedModel, cache: SlotCache) -> None:
        self._model = model
        self._cache = cache
        self.slots = len(cache.lengths)
        self.context_length = cache.context
        self.vocab_size = int(model.config.get_text_config().vocab_size)

    @torch.inference_mode()
    def extend(self, slot: int, ids: Sequence[int]) -> Tensor:
        start, count = self._cache.lengths[slot], len(ids)
        positions = torch.arange(start, start + count, device=self._cache.device)
        # [1, 1, count, start + count]: all that was read before, and the prompt's own past.
        mask = positions[:, None] >= torch.arange(start + count, device=self._cache.device)[None]
        tokens = torch.tensor([ids], device=self._cache.device)
        logits = self._forward(tokens, positions[None], mask[None, None], _SlotView(self._cache, slot))
        self._cache.grow(slot, count)
        return logits[0, -1]

    @torch.inference_mode()
    def decode(self, tokens: Sequence[int]) -> Tensor:
        positions, longest = self._cache.begin_step(len(tokens))
        # [batch, 1, 1, longest]: each request sees its own tokens only.
        mask = torch.arange(longest, device=self._cache.device)[None] <= positions[:, None]
        ids = torch.tensor(tokens, device=self._cache.device)[:, None]
        logits = self._forward(ids, positions[:, None], mask[:, None, None], _StepView(self._cache, len(tokens), longest))
        for slot in range(len(tokens)):
            self._cache.grow(slot, 1)
        return logits[:, -1]

    def _forward(self, ids: Tensor, positions: Tensor, mask: Tensor, cache: Cache) -> Tensor:
        output = self._model(
            input_ids=ids, position_ids=positions, attention_mask=mask, cache=cache, use_cache=True, logits_to_keep=1
        )
        logits: Tensor = output.logits
        return logits.float()

    def move(self, source: int, target: int) -> None:
        self._cache.move(source, target)

    def clear(self, slot: int) -> None:
        self._cache.clear(slot)


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


class _StepView(Cache):
    """The cache as a step over the first slots sees it."""

    def __init__(self, cache: SlotCache, batch: int, longest: int) -> None:
        super().__init__(layers=[])
        self._slots, self._batch, self._longest = cache, batch, longest

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_args: Any, **_kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """[batch, kv_heads, 1, head_dim] in, [batch, kv_heads, longest, head_dim] out."""
        self._slots.append_step(layer_idx, torch.stack((key_states[:, :, 0], value_states[:, :, 0])))
        block = self._slots.layers[layer_idx][:, : self._batch, : self._longest].transpose(2, 3)
        return block[0], block[1]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self._longest - 1


def check_supported(config: Any) -> None:  # noqa: ANN401  (a transformers config)
    """Raises ConfigError for a model whose layers keep another kind of state than keys and values of all tokens."""
    kinds = set(getattr(config, "layer_types", None) or ()) - {"full_attention"}
    if kinds or getattr(config, "is_encoder_decoder", False):
        what = ", ".join(sorted(kinds)) or "an encoder"
        raise ConfigError(f"the embedded engine serves models with full attention only; this one has {what}")
