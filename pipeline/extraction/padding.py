"""Which documents are read together."""

from collections.abc import Iterator, Sequence

WINDOW = 64
"""Documents are sorted by length within about so many batches: little padding, and shards that hold long and short ones."""


def length_batches(lengths: Sequence[int], *, batch_tokens: int) -> Iterator[list[int]]:
    """Indices of documents to read at once, in windows of their order.

    A batch has at most `batch_tokens` tokens, padding included; a longer document is a batch of its own.
    """
    for window in _windows(lengths, WINDOW * batch_tokens):
        batch: list[int] = []
        for index in sorted(window, key=lambda index: lengths[index], reverse=True):
            # The first is the longest: it decides how wide all are.
            if batch and lengths[batch[0]] * (len(batch) + 1) > batch_tokens:
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch


def _windows(lengths: Sequence[int], limit: int) -> Iterator[list[int]]:
    window: list[int] = []
    tokens = 0
    for index, length in enumerate(lengths):
        window.append(index)
        tokens += length
        if tokens >= limit:
            yield window
            window, tokens = [], 0
    if window:
        yield window
