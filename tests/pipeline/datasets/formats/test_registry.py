from typing import Any

import pytest

from pipeline.datasets.formats.registry import label_of, normalise
from pipeline.datasets.json_value import Json
from pipeline.datasets.report import RowError

TURNS = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"input_ids": [1], "messages": TURNS}, "pretokenized"),
        ({"messages": TURNS, "prompt": "other"}, "messages"),
        ({"conversations": TURNS, "text": "other"}, "conversations"),
        ({"conversation": TURNS}, "conversations"),
        ({"instruction": "hi", "text": "other"}, "alpaca"),
        ({"problem": "hi"}, "plain"),
        ({"messages": None, "question": "hi"}, "plain"),
    ],
)
def test_the_fields_of_a_row_decide_its_format(row: dict[str, Any], name: str) -> None:
    assert normalise(row)[1] == name


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (["not", "an", "object"], "row is not an object"),
        ("just a string", "row is not an object"),
        (None, "row is not an object"),
        ({}, "no field with a prompt"),
        ({"answer": "x"}, "no field with a prompt"),
        ({"prompt": "a\0b"}, "text holds a NUL character"),
        ({"prompt": "a\ud83db"}, "text holds a lone surrogate"),
        ({"prompt": "a", "tools": [{"name": "a\0b"}]}, "text holds a NUL character"),
        ({"prompt": "a", "tools": [{"x": float("inf")}]}, "a value is not JSON"),
        ({"prompt": "a", "tools": [{"x": b"bytes"}]}, "a value is not JSON"),
    ],
)
def test_rows_of_no_use_are_named(row: Json, reason: str) -> None:
    with pytest.raises(RowError) as caught:
        normalise(row)
    assert caught.value.reason == reason


def test_the_escape_of_a_nul_is_text() -> None:
    assert normalise({"prompt": r"in C, \u0000 ends a string"})[0].messages[0]["content"] == r"in C, \u0000 ends a string"


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ({"id": 7}, "7"),
        ({"id": None, "uuid": "u"}, "u"),
        ({"id": 1.0}, "1.0"),
        ({"task_id": "HumanEval/0"}, "HumanEval/0"),
        ({"id": {"a": 1}}, None),
        ({"id": True}, None),
        ({"id": "x" * 999}, "x" * 200),
        ([], None),
    ],
)
def test_labels_are_text_or_nothing(row: Json, label: str | None) -> None:
    assert label_of(row) == label
