from pathlib import Path

import pytest

from pipeline.datasets.conversation import Conversation, new_conversation, read_prompts
from pipeline.errors import DataError
from tests.support.prompts import chat


@pytest.mark.parametrize(
    "conversation",
    [
        chat("hi 🚀 \u2028 漢字", label="a/../b"),
        chat("hi", "ho", "hi", tools=({"type": "function", "function": {"name": "f"}},)),
        new_conversation(label="", input_ids=(1, 2, 3)),
    ],
)
def test_a_conversation_survives_its_line(conversation: Conversation) -> None:
    line = conversation.to_line()
    assert line.count(b"\n") == 1
    assert Conversation.from_line(line) == conversation


def test_the_key_names_label_and_content() -> None:
    assert chat("hi").key == "ea6faeca36a42882"
    assert len({chat("hi").key, chat("ho").key, chat("hi", label="1").key, chat("hi", "ho").key}) == 4


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b"nonsense", b'{"key": "1"}'])
def test_a_line_that_is_no_prompt_is_an_error(line: bytes) -> None:
    with pytest.raises(DataError, match="not a normalised prompt"):
        Conversation.from_line(line)


def test_a_broken_line_is_named_by_file_and_number(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_bytes(chat("hi").to_line() + b"broken\n")
    with pytest.raises(DataError, match=r"prompts\.jsonl, line 2: not a normalised prompt"):
        list(read_prompts(path))
