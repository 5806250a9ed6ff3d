"""Hidden states that are computed when they are asked for: training without a disk full of them."""

import logging
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from pipeline.batching import Document
from pipeline.errors import DataError
from pipeline.events import Warned
from pipeline.extraction.answers import Limits, read_answers
from pipeline.extraction.documents import read_documents
from pipeline.extraction.padding import length_batches
from pipeline.extraction.provenance import answers_inputs
from pipeline.extraction.target import load_target
from pipeline.shard_layout import DTYPES
from pipeline.target_layout import target_layout
from pipeline.training.config import TrainConfig

log = logging.getLogger(__name__)


class OnlineSource:
    """A DocumentSource whose `load` lets the target read: once an epoch, on the device that trains."""

    def __init__(self, config: TrainConfig, device: torch.device) -> None:
        """Load the target. Raises ConfigError for a model that cannot be loaded, DataError when there is no answer."""
        folder = Path(config.target)
        dtype = "float32" if device.type == "cpu" else "bfloat16"
        self.layout = target_layout(folder, feature_layers=config.feature_layers, dtype=dtype)
        limits = Limits(vocab_size=self.layout.vocab_size, max_length=config.max_length)
        reading = read_answers(Path(config.responses), config.datasets, limits, warn=_log, exclusions=config.exclusions)
        self.documents, self.excluded = reading.answers, reading.excluded
        if not self.documents:
            chosen = ", ".join(answers.dataset for answers in config.datasets)
            raise DataError(f"{config.responses}: no usable answer of {chosen} with at most {config.max_length:,} tokens")
        self._config = config
        self._target = load_target(
            folder,
            self.layout,
            max_length=config.max_length,
            device=str(device),
            dtype=dtype,
            trust_remote_code=config.trust_remote_code,
        )

    def ids_and_mask(self, index: int) -> tuple[Tensor, Tensor]:
        answer = self.documents[index]
        return answer.token_ids(), answer.loss_mask()

    def load(self, indices: Sequence[int]) -> list[Document]:
        """Documents in the order of `indices`; their states are on the device of the target."""
        answers = [self.documents[index] for index in indices]
        found: dict[int, Document] = {}
        lengths = [answer.tokens for answer in answers]
        for batch in length_batches(lengths, batch_tokens=self._config.tokens_per_batch):
            documents = read_documents(self._target, [answers[place] for place in batch], DTYPES[self.layout.dtype])
            found |= zip(batch, documents, strict=True)
        return [found[place] for place in range(len(answers))]

    def inputs(self) -> dict[str, str]:
        return answers_inputs(Path(self._config.responses), self._config.datasets) | {"target": self.layout.target}


def _log(warning: Warned) -> None:
    log.warning("%s: %s", warning.dataset, warning.text)
