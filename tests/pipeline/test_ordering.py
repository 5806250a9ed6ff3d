import random

import pytest

from pipeline.errors import DataError
from pipeline.ordering import plan_batches

LENGTHS = [random.Random(3).randint(1, 400) for _ in range(300)]


def test_every_document_comes_once() -> None:
    batches = plan_batches(LENGTHS, tokens_per_batch=1000, seed=1, epoch=0)
    assert sorted(index for batch in batches for index in batch) == list(range(300))


def test_batches_keep_the_token_limit() -> None:
    batches = plan_batches(LENGTHS, tokens_per_batch=1000, seed=1, epoch=0)
    assert max(sum(LENGTHS[index] for index in batch) for batch in batches) <= 1000


def test_order_depends_on_seed_and_epoch_alone() -> None:
    first = plan_batches(LENGTHS, tokens_per_batch=1000, seed=1, epoch=0)
    assert plan_batches(LENGTHS, tokens_per_batch=1000, seed=1, epoch=0) == first
    assert plan_batches(LENGTHS, tokens_per_batch=1000, seed=1, epoch=1) != first
    assert plan_batches(LENGTHS, tokens_per_batch=1000, seed=2, epoch=0) != first


def test_a_batch_holds_like_lengths() -> None:
    batches = plan_batches(LENGTHS, tokens_per_batch=1000, seed=1, epoch=0)
    spreads = [max(LENGTHS[i] for i in batch) - min(LENGTHS[i] for i in batch) for batch in batches if len(batch) > 1]
    assert sum(spreads) / len(spreads) < 100


def test_long_document_is_a_batch_of_its_own() -> None:
    assert sorted(plan_batches([10, 5000, 20], tokens_per_batch=100, seed=0, epoch=0), key=len) == [[1], [0, 2]]


def test_documents_of_length_0_are_left_out_and_all_of_them_refused() -> None:
    assert plan_batches([0, 7, 0], tokens_per_batch=100, seed=0, epoch=0) == [[1]]
    with pytest.raises(DataError, match="no document has a supervised token"):
        plan_batches([0, 0], tokens_per_batch=100, seed=0, epoch=0)
