"""A Llama target on a CPU: read by the embedded engine's forward, which is several times faster there than transformers'.

Documents are read one after the other, in pieces: a few hundred rows are enough to keep a CPU busy, and no padding is read.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (the field's own abbreviation)
from transformers import LlamaForCausalLM

from pipeline.extraction.states import States
from pipeline.lean_ops import argmax
from pipeline.serving.embedded.cache import SlotCache
from pipeline.serving.embedded.linear import prepare
from pipeline.serving.embedded.llama import LlamaRunner
from pipeline.serving.embedded.runner import HiddenStates

PIECE = 512
"""Tokens of a document that are read at once."""

TILE = 8
"""Rows of logits whose maximum is searched at once: few enough to stay in a core's cache."""


class LlamaTarget:
    def __init__(self, model: LlamaForCausalLM, layers: Sequence[int], *, max_length: int) -> None:
        """Takes its weights over from a loaded model; `is_plain_llama` must hold for it."""
        self.on_layer: Callable[[], None] = lambda: None
        config: Any = model.config
        cache = SlotCache(
            layers=config.num_hidden_layers,
            slots=1,
            context=max_length,
            kv_heads=config.num_key_value_heads,
            head_dim=config.head_dim,
            dtype=model.dtype,
            device=model.device,
        )
        self._runner = LlamaRunner(model, cache)
        self._runner.watch(layers)
        self._norm = model.model.norm.weight.detach().clone()
        self._eps = float(config.rms_norm_eps)
        self._head = prepare(model.lm_head.weight.detach())

    def read(self, documents: Sequence[Tensor]) -> list[States]:
        return [self._read(document.tolist()) for document in documents]

    @torch.inference_mode()
    def best_tokens(self, last_hidden: Tensor) -> Tensor:
        logits = (self._head(part) for part in torch.split(last_hidden.to(self._norm.dtype), PIECE))
        return torch.cat([argmax(rows) for part in logits for rows in torch.split(part, TILE)])

    @torch.inference_mode()
    def _read(self, ids: list[int]) -> States:
        self._runner.clear(0)
        pieces = []
        for start in range(0, len(ids), PIECE):
            self.on_layer()
            self._runner.extend(0, ids[start : start + PIECE])
            if self._runner.states is not None:
                pieces.append(self._runner.states)
        states = HiddenStates.cat(pieces)
        return States(features=states.features, last_hidden=F.rms_norm(states.last, self._norm.shape, self._norm, self._eps))
