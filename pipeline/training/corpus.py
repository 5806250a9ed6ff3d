"""The documents of one training: which are trained on, which are only measured on, and what tokens they generated."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pipeline.batching import label_positions
from pipeline.document_source import DocumentSource
from pipeline.errors import DataError
from pipeline.held_out import is_held_out
from pipeline.vocab import count_supervised


@dataclass(frozen=True, kw_only=True)
class Corpus:
    source: DocumentSource
    train: tuple[int, ...]
    """Documents with at least one label, by their index in the source."""
    held_out: tuple[int, ...]
    unlabelled: int
    """Documents that teach nothing: no token after the second one was generated."""
    counts: Tensor
    """int64 [V]: how often each token was generated, in documents that are trained on."""
    held_out_counts: Tensor

    def lengths(self) -> list[int]:
        """Tokens of each document of the source; 0 for those that are not trained on."""
        trained = set(self.train)
        return [entry.tokens if index in trained else 0 for index, entry in enumerate(self.source.documents)]

    def tokens(self, indices: Sequence[int]) -> int:
        return sum(self.source.documents[index].tokens for index in indices)

    def names(self, indices: Sequence[int]) -> list[str]:
        """DATASET/PROMPT of each document."""
        documents = (self.source.documents[index] for index in indices)
        return [f"{document.dataset}/{document.name}" for document in documents]

    def sample(self, size: int) -> tuple[int, ...]:
        """At most `size` held-out documents, as many of each dataset as it has, always the same ones."""
        by_dataset: dict[str, list[int]] = defaultdict(list)
        for index in sorted(self.held_out, key=self._digest):
            by_dataset[self.source.documents[index].dataset].append(index)
        ranked = [(rank, dataset, index) for dataset, group in by_dataset.items() for rank, index in enumerate(group)]
        return tuple(index for _, _, index in sorted(ranked)[:size])

    def summary(self) -> list[dict[str, str | int]]:
        """What is trained on, by dataset, for the lineage."""
        documents, tokens = Counter[str](), Counter[str]()
        for index in self.train:
            entry = self.source.documents[index]
            documents[entry.dataset] += 1
            tokens[entry.dataset] += entry.tokens
        return [{"dataset": name, "documents": documents[name], "tokens": tokens[name]} for name in sorted(documents)]

    def _digest(self, index: int) -> bytes:
        entry = self.source.documents[index]
        return hashlib.blake2b(f"sample\0{entry.dataset}\0{entry.name}".encode(), digest_size=8).digest()


def open_corpus(source: DocumentSource, *, held_out_share: float) -> Corpus:
    """Split a source and count its tokens. Raises DataError when nothing is left to train on."""
    train, held_out, unlabelled = [], [], 0
    for index, entry in enumerate(source.documents):
        if entry.supervised == 0 or len(label_positions(source.ids_and_mask(index)[1])) == 0:
            unlabelled += 1
        elif is_held_out(entry.dataset, entry.name, share=held_out_share):
            held_out.append(index)
        else:
            train.append(index)
    if not train:
        total = len(source.documents)
        raise DataError(
            f"nothing to train on: of {total} documents {unlabelled} have no supervised token and {len(held_out)} are held out"
        )
    return Corpus(
        source=source,
        train=tuple(train),
        held_out=tuple(held_out),
        unlabelled=unlabelled,
        counts=_count(source, train),
        held_out_counts=_count(source, held_out),
    )


def _count(source: DocumentSource, indices: Sequence[int]) -> Tensor:
    if not indices:
        return torch.zeros(source.layout.vocab_size, dtype=torch.int64)
    return count_supervised((source.ids_and_mask(index) for index in indices), source.layout.vocab_size)
