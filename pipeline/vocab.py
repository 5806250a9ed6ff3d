"""The draft vocabulary: the N target tokens that the drafter can propose.

draft id      0    1    2  …        d2t[i] = id_i − i      t2d[id] = id is in the draft vocabulary
target id    13   15   99  …        13, 14, 97, …
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from pipeline.errors import ConfigError, DataError


@dataclass(frozen=True)
class DraftVocabulary:
    token_ids: Tensor
    """int64 [N], ascending: the target's ids."""
    target_size: int
    """V."""

    def __post_init__(self) -> None:
        ids, size = self.token_ids, len(self.token_ids)
        if size == 0 or size > self.target_size:
            raise ConfigError(f"a draft vocabulary of {size} does not fit into {self.target_size} tokens")
        if int(ids.min()) < 0 or int(ids.max()) >= self.target_size or not bool((ids.diff() > 0).all()):
            raise ConfigError(f"draft vocabulary: ids must ascend between 0 and {self.target_size - 1}")
        if size < self.target_size and int(ids[-1]) == size - 1:
            raise ConfigError(
                f"draft vocabulary: an identity mapping of {size} out of {self.target_size} tokens (d2t is zero everywhere); "
                "the counts it came from cannot be those of real answers, or d2t was lost"
            )

    @classmethod
    def from_d2t(cls, d2t: Tensor, *, target_size: int) -> "DraftVocabulary":
        """The mapping of a checkpoint, to be reused when training goes on: a rebuilt one would relabel every row of lm_head."""
        return cls(d2t + torch.arange(len(d2t), device=d2t.device), target_size)

    @cached_property
    def d2t(self) -> Tensor:
        """int64 [N]: what to add to a draft id to get the target's."""
        return self.token_ids - torch.arange(len(self.token_ids), device=self.token_ids.device)

    @cached_property
    def t2d(self) -> Tensor:
        """bool [V]."""
        member = torch.zeros(self.target_size, dtype=torch.bool, device=self.token_ids.device)
        member[self.token_ids] = True
        return member

    @cached_property
    def draft_ids(self) -> Tensor:
        """int64 [V]: the draft id of each target token, −1 outside."""
        ids = torch.full((self.target_size,), -1, dtype=torch.int64, device=self.token_ids.device)
        ids[self.token_ids] = torch.arange(len(self.token_ids), device=self.token_ids.device)
        return ids

    def coverage(self, counts: Tensor) -> float:
        """Share of the counted tokens that the drafter can propose. counts: int64 [V]. Raises DataError when it is 0."""
        covered = int(counts[self.token_ids].sum())
        if covered == 0:
            raise DataError(
                "the draft vocabulary holds none of the supervised tokens: a vocabulary of another target or dataset"
            )
        return covered / int(counts.sum())

    def require_size(self, *, draft: int, target: int) -> None:
        """Raises ConfigError unless the mapping takes `draft` out of `target` tokens."""
        if (len(self.token_ids), self.target_size) != (draft, target):
            sizes = f"{len(self.token_ids)} out of {self.target_size} tokens"
            raise ConfigError(f"the draft vocabulary maps {sizes}, {draft} of {target} are needed")


def count_supervised(documents: Iterable[tuple[Tensor, Tensor]], target_size: int) -> Tensor:
    """How often each token was generated, int64 [V]. `documents`: token ids and loss mask of each, [T].

    Raises DataError for an id outside the vocabulary, and when no token of any document is supervised.
    """
    counts = torch.zeros(target_size, dtype=torch.int64)
    for index, (token_ids, loss_mask) in enumerate(documents):
        generated = token_ids[loss_mask.bool()]
        if len(generated) and not 0 <= int(generated.min()) <= int(generated.max()) < target_size:
            raise DataError(f"document {index}: a token id lies outside the target's vocabulary of {target_size}")
        counts += torch.bincount(generated, minlength=target_size)
    if int(counts.sum()) == 0:
        raise DataError("no token of these documents is supervised: the loss mask is zero everywhere")
    return counts


def build_vocabulary(counts: Tensor, size: int) -> DraftVocabulary:
    """The `size` most frequent tokens, ties to the lower id, filled up with the lowest unused ids. counts: int64 [V].

    Raises DataError when nothing was counted, ConfigError when `size` exceeds the target's vocabulary.
    """
    if int(counts.sum()) == 0:
        raise DataError("a draft vocabulary needs at least one supervised token")
    # Unseen tokens count 0 each, so that a stable descending sort ends with them by id: the filling.
    ranked = torch.argsort(counts, descending=True, stable=True)
    return DraftVocabulary(ranked[:size].sort().values, len(counts))
