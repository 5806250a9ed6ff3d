"""Where training's hidden states come from: folders of shards, or a target that computes them on the spot."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from pipeline.answer_sets import AnswerSet
from pipeline.batching import Document
from pipeline.document_source import DocumentSource
from pipeline.errors import DataError
from pipeline.exclusions import Exclusions
from pipeline.extraction.online import OnlineSource
from pipeline.model_fingerprint import model_fingerprint, same_model
from pipeline.shards import ShardReader, StoredDocument
from pipeline.training.config import TrainConfig


def open_source(config: TrainConfig, device: torch.device) -> DocumentSource:
    """What a training config names; `device` is where an online target computes.

    Raises DataError for folders that do not fit together or to the target, ConfigError for a target that cannot be loaded.
    """
    return OnlineSource(config, device) if config.source == "online" else StoredSource(config)


class StoredSource:
    """Several folders of shards as one source, without the documents that the config leaves out."""

    def __init__(self, config: TrainConfig) -> None:
        """Raises DataError when a folder holds no states, those of another target, or when nothing is left."""
        self._readers = [ShardReader(Path(folder)) for folder in config.hidden]
        self.layout = self._readers[0].layout
        _check_target(config, self._readers)
        places = _places(self._readers, config.datasets, config.max_length)
        self._places = _left(places, config.exclusions)
        self.excluded = len(places) - len(self._places)
        self.documents: list[StoredDocument] = [self._readers[r].documents[i] for r, i in self._places]
        if not self.documents:
            chosen = ", ".join(answers.dataset for answers in config.datasets) or "any dataset"
            raise DataError(f"no document of {chosen} with at most {config.max_length:,} tokens in {', '.join(config.hidden)}")

    def ids_and_mask(self, index: int) -> tuple[Tensor, Tensor]:
        reader, place = self._places[index]
        return self._readers[reader].ids_and_mask(place)

    def load(self, indices: Sequence[int]) -> list[Document]:
        places = [self._places[index] for index in indices]
        found: dict[tuple[int, int], Document] = {}
        for number, reader in enumerate(self._readers):
            mine = [place for r, place in places if r == number]
            found |= {(number, place): document for place, document in zip(mine, reader.load(mine), strict=True)}
        return [found[place] for place in places]

    def inputs(self) -> dict[str, str]:
        return {name: digest for reader in self._readers for name, digest in reader.inputs().items()}


def _places(
    readers: Sequence[ShardReader], datasets: Sequence[AnswerSet], max_length: int
) -> dict[tuple[str, str], tuple[int, int]]:
    """(dataset, prompt) → (reader, document) of all that could train. Of a document in two folders the first counts."""
    wanted = {answers.dataset for answers in datasets}
    places: dict[tuple[str, str], tuple[int, int]] = {}
    for number, reader in enumerate(readers):
        for index, document in enumerate(reader.documents):
            if document.tokens <= max_length and (not wanted or document.dataset in wanted):
                places.setdefault((document.dataset, document.name), (number, index))
    return places


def _left(places: dict[tuple[str, str], tuple[int, int]], exclusions: Exclusions) -> list[tuple[int, int]]:
    """The places without those that people took out, perhaps after their states were stored."""
    unwanted = {row.dataset: frozenset(row.keys) for row in exclusions.answers}
    return [place for (dataset, name), place in places.items() if name not in unwanted.get(dataset, ())]


def _check_target(config: TrainConfig, readers: Sequence[ShardReader]) -> None:
    expected = model_fingerprint(Path(config.target))
    first = readers[0].layout
    for folder, reader in zip(config.hidden, readers, strict=True):
        layout = reader.layout
        if not same_model(layout.target, expected):
            raise DataError(f"{folder}: hidden states of {layout.target}; the target to train for is {expected}")
        if (layout.feature_layers, layout.last_hidden) != (first.feature_layers, first.last_hidden):
            raise DataError(
                f"{folder}: states of layers {list(layout.feature_layers.hidden_states)}, {layout.last_hidden}; "
                f"{config.hidden[0]} holds layers {list(first.feature_layers.hidden_states)}, {first.last_hidden}"
            )
