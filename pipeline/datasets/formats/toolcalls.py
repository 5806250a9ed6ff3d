"""Tools that a row offers to the model, and calls of them in earlier turns."""

import json
from collections.abc import Mapping
from typing import Any

from pipeline.datasets.formats.draft import Row
from pipeline.datasets.json_value import Json
from pipeline.datasets.report import RowError

MAX_DEPTH = 64


def read_tools(row: Row) -> list[dict[str, Any]]:
    """Function schemas of a row in OpenAI's shape, from a list or from a JSON string of one. Raises RowError."""
    tools = row.get("tools", row.get("functions"))
    if isinstance(tools, str):
        tools = _parse(tools, "tools is not valid JSON") if tools.strip() else None
    if tools is None:
        return []
    if not isinstance(tools, (list, tuple)) or not all(isinstance(tool, Mapping) for tool in tools):
        raise RowError("tools is not a list of objects")
    check_depth(tools)
    return [dict(tool) if "function" in tool else {"type": "function", "function": dict(tool)} for tool in tools]


def read_tool_calls(calls: Json, where: str) -> list[dict[str, Json]]:
    """An assistant turn's calls. Arguments become an object, since chat templates print them as JSON. Raises RowError."""
    if calls is None:
        return []
    if not isinstance(calls, (list, tuple)):
        raise RowError("tool_calls is not a list", where)
    check_depth(calls)
    return [_call(call, where) for call in calls]


def check_depth(value: Json, depth: int = 0) -> None:
    """Raise RowError for nesting that templates could not print."""
    if depth > MAX_DEPTH:
        raise RowError("nested too deeply")
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return
    for item in value:
        check_depth(item, depth + 1)


def _call(call: Json, where: str) -> dict[str, Json]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise RowError("tool call has no function name", where)
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        arguments = _parse(arguments, "tool call arguments are not valid JSON") if arguments.strip() else {}
        check_depth(arguments)
    body = {"type": "function", "function": {"name": function["name"], "arguments": {} if arguments is None else arguments}}
    return {"id": call["id"], **body} if isinstance(call.get("id"), str) else body


def _parse(text: str, reason: str) -> Json:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise RowError("nested too deeply") from error
    except ValueError as error:
        raise RowError(reason, str(error)) from error
