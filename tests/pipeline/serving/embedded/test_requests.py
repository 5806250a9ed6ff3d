"""What is refused, and with which words."""

import json

import pytest

from pipeline.errors import BadRequestError
from pipeline.serving.embedded.requests import GenerateRequest, SamplingParams, check_prompt, parse, request_ids


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"input_ids": [1], "sampling_params": {"foo": 1}}, r"sampling_params\.foo: Extra inputs are not permitted"),
        ({"input_ids": [1], "temperature": 0}, "temperature: Extra inputs"),
        (
            {"input_ids": [1], "sampling_params": {"temperature": -1}},
            "greater than or equal to 0",
        ),
        ({"input_ids": [1], "sampling_params": {"top_p": 0}}, r"sampling_params\.top_p"),
        ({"input_ids": [1], "sampling_params": {"max_new_tokens": 0}}, r"sampling_params\.max_new_tokens"),
        ({"input_ids": [1], "sampling_params": {"max_new_tokens": "8"}}, "valid integer"),
        ({"input_ids": [1.5]}, "valid integer"),
        ({"input_ids": ["x"]}, "valid integer"),
        ({"input_ids": True}, "input_ids"),
        ([], "object"),
    ],
)
def test_parse_names_the_first_wrong_field(body: object, message: str) -> None:
    with pytest.raises(BadRequestError, match=message):
        parse(GenerateRequest, json.dumps(body).encode())


def test_parse_refuses_what_is_no_json() -> None:
    with pytest.raises(BadRequestError, match="Invalid JSON"):
        parse(GenerateRequest, b"{")


def test_parse_reads_single_and_batched_prompts() -> None:
    assert parse(GenerateRequest, b'{"input_ids": [1, 2]}').input_ids == (1, 2)
    assert parse(GenerateRequest, b'{"input_ids": [[1, 2], [3]]}').input_ids == ((1, 2), (3,))


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ((), "no tokens"),
        ((1, 300), "token id 300 is outside the vocabulary of 300"),
        ((-1,), "negative"),
        ((1,) * 64, r"the input \(64 tokens\) is longer than the model's context length \(64 tokens\)"),
        ((1,) * 60, "exceeds the model's context length of 64 tokens: 60 of the input and 5 of the answer"),
    ],
)
def test_check_prompt_refuses_what_cannot_be_served(ids: tuple[int, ...], message: str) -> None:
    with pytest.raises(BadRequestError, match=message):
        check_prompt(ids, SamplingParams(max_new_tokens=5), vocab_size=300, context_length=64)


def test_check_prompt_takes_what_just_fits() -> None:
    check_prompt((299,) * 59, SamplingParams(max_new_tokens=5), vocab_size=300, context_length=64)


def test_request_ids_gives_each_prompt_its_own() -> None:
    assert request_ids("a", 1) == ["a"]
    assert request_ids("a", 2) == ["a_0", "a_1"]
    assert request_ids(("x", "y"), 2) == ["x", "y"]
    assert len(set(request_ids(None, 3))) == 3
    with pytest.raises(BadRequestError, match="1 request ids for 2 prompts"):
        request_ids(("x",), 2)
