import pytest

from pipeline.datasets.formats.alpaca import read
from pipeline.datasets.formats.draft import Row
from pipeline.datasets.report import RowError


def test_instruction_and_input_make_one_turn_and_the_output_is_no_part_of_it() -> None:
    assert read({"instruction": "Sum up.", "input": "A cat sat.", "output": "x"}).messages == [
        {"role": "user", "content": "Sum up.\n\nA cat sat."}
    ]
    assert read({"instruction": "Write.", "input": "", "output": ""}).messages == [{"role": "user", "content": "Write."}]


def test_system_and_history_come_first() -> None:
    row = {"instruction": "And 3+3?", "system": "Be brief.", "history": [["2+2?", "4"]]}
    assert [message["content"] for message in read(row).messages] == ["Be brief.", "2+2?", "4", "And 3+3?"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"instruction": " ", "input": "x"}, "empty instruction"),
        ({"instruction": 1}, "instruction is not text"),
        ({"instruction": "x", "input": {}}, "input is not text"),
        ({"instruction": "x", "history": [["only one"]]}, "history is not a list of question and answer"),
        ({"instruction": "x", "history": 3}, "history is not a list of question and answer"),
    ],
)
def test_what_cannot_be_used_is_named(row: Row, reason: str) -> None:
    with pytest.raises(RowError) as caught:
        read(row)
    assert caught.value.reason == reason
