import pytest

from pipeline.datasets.formats.draft import Row
from pipeline.datasets.formats.plain import read
from pipeline.datasets.report import RowError


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"prompt": "Sort."}, "Sort."),
        ({"question": "Why?"}, "Why?"),
        ({"text": "Plain."}, "Plain."),
        ({"prompt": None, "text": "Plain."}, "Plain."),
        ({"prompt": ["What is a monad?", "Give an example."]}, "What is a monad?\n\nGive an example."),
    ],
)
def test_one_field_is_one_user_turn(row: Row, text: str) -> None:
    assert read(row).messages == [{"role": "user", "content": text}]


def test_a_prompt_of_turns_is_a_chat() -> None:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    assert read({"prompt": chat}).messages == chat


@pytest.mark.parametrize(
    ("row", "reason"),
    [({"prompt": ""}, "empty prompt"), ({"prompt": []}, "empty prompt"), ({"text": 1}, "text is not text")],
)
def test_what_cannot_be_used_is_named(row: Row, reason: str) -> None:
    with pytest.raises(RowError) as caught:
        read(row)
    assert caught.value.reason == reason
