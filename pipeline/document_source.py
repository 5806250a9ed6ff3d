"""What training asks of hidden states, wherever they come from: shards on disk, or a target that computes them on the spot."""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from pipeline.batching import Document
from pipeline.shard_layout import Layout


class DocumentEntry(Protocol):
    """One document, before its states are read."""

    @property
    def tokens(self) -> int: ...
    @property
    def supervised(self) -> int:
        """Generated tokens."""

    @property
    def dataset(self) -> str: ...
    @property
    def name(self) -> str:
        """The prompt's key."""


class DocumentSource(Protocol):
    @property
    def layout(self) -> Layout: ...
    @property
    def documents(self) -> Sequence[DocumentEntry]: ...
    @property
    def excluded(self) -> int:
        """Documents that people took out; they are not among `documents`."""

    def ids_and_mask(self, index: int) -> tuple[Tensor, Tensor]:
        """int64 [T] and bool [T], without the states: what counting the draft vocabulary needs."""

    def load(self, indices: Sequence[int]) -> list[Document]:
        """Documents with their states, in the order of `indices`."""

    def inputs(self) -> dict[str, str]:
        """What stands behind it, as name → content hash, for manifests."""
