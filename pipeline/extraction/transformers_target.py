"""A target as transformers computes it: any causal language model, on one device or spread over several."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pipeline.errors import ConfigError
from pipeline.extraction.states import States
from pipeline.lean_ops import argmax

CHUNK_LOGITS = 1 << 23
"""Most logits that exist at once."""

PROBE_TOKENS = 24
TOLERANCE = 0.02
"""Of the largest logit: what rounding of bfloat16 may cost."""


class TransformersTarget:
    """Features are taken from the inputs of single layers as they come by: the states of all other layers are not kept."""

    def __init__(self, model: Any, layers: Sequence[int]) -> None:  # noqa: ANN401  (any model of transformers)
        """Raises ConfigError for a model that is built in another way."""
        self.on_layer: Callable[[], None] = lambda: None
        self._decoder = model.get_decoder()
        self._head = model.get_output_embeddings()
        self._seen: dict[int, Tensor] = {}
        """Layer → its input [batch, longest, H], while a forward runs."""
        blocks = getattr(self._decoder, "layers", None)
        if blocks is None or self._head is None:
            raise ConfigError(f"{type(model).__name__}: no decoder layers or no head found in it")
        for index, block in enumerate(blocks):
            block.register_forward_pre_hook(self._watch(index if index in layers else None), with_kwargs=True)
        self._device = model.get_input_embeddings().weight.device
        self._check_last_hidden(model)

    @torch.inference_mode()
    def read(self, documents: Sequence[Tensor]) -> list[States]:
        # Padding stands to the right, where no token of a causal model looks.
        ids = pad_sequence(list(documents), batch_first=True).to(self._device)
        lengths = torch.tensor([len(document) for document in documents], device=self._device)
        mask = torch.arange(ids.shape[1], device=self._device)[None] < lengths[:, None]
        self._seen.clear()
        last = self._decoder(input_ids=ids, attention_mask=mask.long(), use_cache=False).last_hidden_state
        features = torch.cat([self._seen[layer].to(last.device) for layer in sorted(self._seen)], dim=-1)
        self._seen.clear()
        return [
            States(features=features[row, : len(document)], last_hidden=last[row, : len(document)])
            for row, document in enumerate(documents)
        ]

    @torch.inference_mode()
    def best_tokens(self, last_hidden: Tensor) -> Tensor:
        weight = self._head.weight
        rows = torch.split(last_hidden.to(weight.device, weight.dtype), max(1, CHUNK_LOGITS // len(weight)))
        return torch.cat([argmax(self._head(part)) for part in rows])

    def _watch(self, layer: int | None) -> Callable[[Any, tuple[Any, ...], dict[str, Any]], None]:
        def before(_block: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            self.on_layer()
            if layer is not None:
                self._seen[layer] = args[0] if args else kwargs["hidden_states"]

        return before

    @torch.inference_mode()
    def _check_last_hidden(self, model: Any) -> None:  # noqa: ANN401  (any model of transformers)
        """Its head, on what `read` calls the last hidden state, must give its own logits: a teacher computes them so."""
        ids = torch.linspace(0, len(self._head.weight) - 1, PROBE_TOKENS).long()
        mine = self._head(self.read([ids])[0].last_hidden).float()
        if softcap := getattr(model.config.get_text_config(), "final_logit_softcapping", None):
            mine = torch.tanh(mine / softcap) * softcap
        told = model(input_ids=ids[None].to(self._device), use_cache=False).logits[0].float().to(mine.device)
        if float((mine - told).abs().max()) > TOLERANCE * float(told.abs().max()):
            raise ConfigError(
                f"{type(model).__name__}: its logits are not its head over its last hidden state, so no drafter can be taught"
            )
