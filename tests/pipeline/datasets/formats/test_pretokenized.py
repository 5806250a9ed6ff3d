import pytest

from pipeline.datasets.formats.pretokenized import read
from pipeline.datasets.json_value import Json
from pipeline.datasets.report import RowError


@pytest.mark.parametrize(
    ("ids", "mask", "prompt"),
    [
        ([1, 9, 5, 6], [0, 0, 1, 1], [1, 9]),
        ([1, 9, 5, 6, 7, 8], [0, 1, 0, 0, 1, 0], [1, 9, 5, 6]),
        ([1, 9], None, [1, 9]),
    ],
)
def test_the_prompt_ends_before_the_last_answer(ids: list[int], mask: list[int] | None, prompt: list[int]) -> None:
    assert read({"input_ids": ids, "loss_mask": mask}, vocab_size=10).input_ids == prompt


@pytest.mark.parametrize(
    ("ids", "mask", "reason"),
    [
        ([1, 10], [0, 1], "token id out of range"),
        ([1, -5], [0, 1], "token id out of range"),
        ([1, 2, 3], [0, 1], "lengths differ"),
        ([1, 2], [0, 0], "nothing to train on"),
        ([1, 2], [1, 1], "nothing before the answer"),
        ([1, 2], [0, 2], "loss_mask holds something other than 0 and 1"),
        ([], None, "empty input_ids"),
        ("1 2", None, "input_ids is not a list"),
        ([1, True], None, "input_ids holds something that is not an integer"),
        ([1, 2.0], None, "input_ids holds something that is not an integer"),
        ([1, None], None, "input_ids holds something that is not an integer"),
    ],
)
def test_what_cannot_be_used_is_named(ids: Json, mask: Json, reason: str) -> None:
    with pytest.raises(RowError) as caught:
        read({"input_ids": ids, "loss_mask": mask}, vocab_size=10)
    assert caught.value.reason == reason


def test_without_a_vocabulary_only_impossible_ids_are_refused() -> None:
    assert read({"input_ids": [262_143]}, vocab_size=None).input_ids == [262_143]
    with pytest.raises(RowError, match="token id out of range"):
        read({"input_ids": [99_999_999]}, vocab_size=None)
