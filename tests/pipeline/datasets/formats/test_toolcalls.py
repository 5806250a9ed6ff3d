import json
from typing import Any

import pytest

from pipeline.datasets.formats.toolcalls import read_tool_calls, read_tools
from pipeline.datasets.json_value import Json
from pipeline.datasets.report import RowError

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize("given", [[TOOL], json.dumps([TOOL]), [TOOL["function"]]])
def test_tools_come_in_one_shape(given: Json) -> None:
    assert read_tools({"tools": given}) == [TOOL]
    assert read_tools({"functions": given}) == [TOOL]


@pytest.mark.parametrize("given", [None, [], "", " "])
def test_no_tools_are_no_tools(given: Json) -> None:
    assert read_tools({"tools": given}) == []


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("not json", "tools is not valid JSON"),
        ("{}", "tools is not a list of objects"),
        (["f"], "tools is not a list of objects"),
        ("[" * 100_000, "nested too deeply"),
        ([deep(100)], "nested too deeply"),
    ],
)
def test_tools_that_cannot_be_used_are_named(given: Json, reason: str) -> None:
    with pytest.raises(RowError) as caught:
        read_tools({"tools": given})
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("arguments", "read"), [('{"x": 1}', {"x": 1}), ({"x": 1}, {"x": 1}), ("", {}), (None, {}), ("[1]", [1])]
)
def test_arguments_become_an_object(arguments: Json, read: Json) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    assert read_tool_calls([call], "messages[1]") == [call | {"function": {"name": "f", "arguments": read}}]


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ("f", "tool_calls is not a list"),
        ([{"name": "f"}], "tool call has no function name"),
        ([{"function": {"name": "f", "arguments": "{"}}], "tool call arguments are not valid JSON"),
        ([{"function": {"name": "f", "arguments": deep(100)}}], "nested too deeply"),
        ([{"function": {"name": "f", "arguments": json.dumps(deep(100))}}], "nested too deeply"),
    ],
)
def test_calls_that_cannot_be_used_are_named(calls: Json, reason: str) -> None:
    with pytest.raises(RowError) as caught:
        read_tool_calls(calls, "messages[1]")
    assert caught.value.reason == reason
