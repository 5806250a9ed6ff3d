"""Which documents make up which batch, in which order: a pure function of lengths, seed and epoch.

So a data position is two numbers, epoch and batch, and a resumed run meets the same batches.
"""

import random
from collections.abc import Sequence

from pipeline.errors import DataError

BUCKET_BATCHES = 32
"""Documents are sorted by length within about so many batches: batches of like lengths, yet another mix in each epoch."""


def plan_batches(lengths: Sequence[int], *, tokens_per_batch: int, seed: int, epoch: int) -> list[list[int]]:
    """Document indices of each batch, at most `tokens_per_batch` tokens each (a longer document is a batch of its own).

    `lengths`: tokens of each document; 0 leaves one out. Raises DataError when all are left out.
    """
    rng = random.Random(f"{seed}:{epoch}")  # noqa: S311  (an order, not a secret)
    order = [index for index, length in enumerate(lengths) if length > 0]
    if not order:
        raise DataError("no document has a supervised token: there is nothing to train on")
    rng.shuffle(order)

    batches: list[list[int]] = []
    for bucket in _cut(order, lengths, BUCKET_BATCHES * tokens_per_batch):
        bucket.sort(key=lambda index: lengths[index])
        batches += _cut(bucket, lengths, tokens_per_batch)
    rng.shuffle(batches)
    return batches


def _cut(order: Sequence[int], lengths: Sequence[int], limit: int) -> list[list[int]]:
    """Cut a sequence of documents into runs of at most `limit` tokens."""
    runs: list[list[int]] = []
    tokens = limit
    for index in order:
        if not runs or tokens + lengths[index] > limit:
            runs.append([])
            tokens = 0
        runs[-1].append(index)
        tokens += lengths[index]
    return runs
