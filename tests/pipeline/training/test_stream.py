from dataclasses import replace

import pytest

from pipeline.errors import DataError
from pipeline.training.config import LossConfig, TrainConfig
from pipeline.training.stream import BatchStream, Group

LENGTHS = [10, 0, 12, 9, 30, 11, 8, 0, 25, 10, 14]
CONFIG = TrainConfig(project="p", target="t", checkpoints="c", hidden=("h",), tokens_per_batch=30, epochs=3)


def taken(stream: BatchStream, steps: int) -> list[Group]:
    return [stream.take(step) for step in range(steps)]


def test_every_epoch_holds_every_document_once() -> None:
    stream = BatchStream(CONFIG, LENGTHS, group=1)
    epochs: dict[int, list[int]] = {}
    epoch = 0
    for group in taken(stream, stream.total_steps()):
        epochs.setdefault(epoch, []).extend(document for batch in group.batches for document in batch)
        epoch = group.epoch if group.batch < len(stream._plan) else group.epoch + 1
    assert [sorted(documents) for documents in epochs.values()] == [[0, 2, 3, 4, 5, 6, 8, 9, 10]] * 3


def test_stream_goes_on_from_any_position() -> None:
    whole = taken(BatchStream(CONFIG, LENGTHS, group=2), 8)
    for done in range(1, 8):
        stream = BatchStream(CONFIG, LENGTHS, group=2, epoch=whole[done - 1].epoch, batch=whole[done - 1].batch)
        assert [stream.take(step) for step in range(done, 8)] == whole[done:]


def test_larger_groups_hold_the_same_batches_in_the_same_order() -> None:
    single = [batch for group in taken(BatchStream(CONFIG, LENGTHS, group=1), 8) for batch in group.batches]
    double = [batch for group in taken(BatchStream(CONFIG, LENGTHS, group=2), 4) for batch in group.batches]
    assert single == double


def test_steps_are_those_of_the_epochs_the_last_group_filled_up() -> None:
    assert BatchStream(CONFIG, LENGTHS, group=1).total_steps() == 3 * 5
    assert BatchStream(CONFIG, LENGTHS, group=4).total_steps() == 4
    assert BatchStream(replace(CONFIG, max_steps=7), LENGTHS, group=4).total_steps() == 7


def test_one_step_batches_have_their_share_and_always_the_same_places() -> None:
    config = replace(CONFIG, objective=LossConfig(steps=5, one_step_share=0.3))
    depths = [group.steps for group in taken(BatchStream(config, LENGTHS, group=1), 1000)]
    assert set(depths) == {1, 5}
    assert depths.count(1) == pytest.approx(300, abs=45)
    assert depths == [group.steps for group in taken(BatchStream(config, LENGTHS, group=3), 1000)]


def test_nothing_to_train_on_is_refused() -> None:
    with pytest.raises(DataError, match="nothing to train on"):
        BatchStream(CONFIG, [0, 0], group=1)
