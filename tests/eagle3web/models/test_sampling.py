"""JSON that people write is checked key by key."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from eagle3web.models.sampling import validate_object, validate_sampling


@pytest.mark.parametrize(
    "value",
    [{}, {"temperature": 0}, {"temperature": 0.7, "top_p": 0.9, "top_k": 50, "max_new_tokens": 1}, {"stop_token_ids": [1]}],
)
def test_sound_sampling_is_taken(value: dict[str, Any]) -> None:
    validate_sampling(value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "JSON object"),
        ({"temprature": 1}, "temprature"),
        ({"temperature": "0.7"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": float("inf")}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"top_k": 0}, "top_k"),
        ({"min_p": 1.5}, "min_p"),
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"max_new_tokens": 2**31}, "max_new_tokens"),
        ({"seed": -1}, "seed"),
        ({"stop_token_ids": ["x"]}, "stop_token_ids"),
    ],
)
def test_unsound_sampling_is_refused_by_key(value: object, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        validate_sampling(value)


@pytest.mark.parametrize("value", [None, [], "x", {"a": float("nan")}, {"a": "\x00"}, {"a": ["\ud800"]}])
def test_objects_that_no_database_keeps_are_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        validate_object(value)
