import random

from pipeline.extraction.padding import WINDOW, length_batches


def test_every_document_is_read_once_and_no_batch_is_too_large() -> None:
    rng = random.Random(0)
    lengths = [rng.randint(1, 300) for _ in range(2000)]
    batches = list(length_batches(lengths, batch_tokens=256))
    assert sorted(index for batch in batches for index in batch) == list(range(2000))
    for batch in batches:
        assert len(batch) == 1 or max(lengths[index] for index in batch) * len(batch) <= 256


def test_documents_of_like_length_are_read_together_within_a_window() -> None:
    assert list(length_batches([10, 2, 10, 3], batch_tokens=20)) == [[0, 2], [3, 1]]


def test_windows_keep_the_order_of_documents_far_apart() -> None:
    lengths = [1] * WINDOW + [4] * WINDOW
    batches = list(length_batches(lengths, batch_tokens=4))
    assert set(batches[0]) <= set(range(4 * WINDOW))
    assert batches[-1][0] >= WINDOW


def test_document_longer_than_a_batch_is_read_alone() -> None:
    assert list(length_batches([5, 100, 5], batch_tokens=10)) == [[1], [0, 2]]
