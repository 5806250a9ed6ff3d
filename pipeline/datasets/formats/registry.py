"""Which format a row is in, by the fields that it has."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pipeline.datasets.conversation import Conversation, new_conversation
from pipeline.datasets.formats import alpaca, openai, plain, pretokenized, sharegpt
from pipeline.datasets.formats.draft import Draft, Row
from pipeline.datasets.formats.toolcalls import read_tools
from pipeline.datasets.report import RowError

LABEL_FIELDS = ("id", "uuid", "uid", "conversation_id", "prompt_id", "question_id", "task_id")
LABEL_LENGTH = 200


def normalise(value: Any, *, vocab_size: int | None = None) -> tuple[Conversation, str, list[str]]:  # noqa: ANN401  (any JSON)
    """Turn a row into `(conversation, name of its format, warnings)`. Raises RowError."""
    if not isinstance(value, dict):
        raise RowError("row is not an object")
    name, read = _reader(value, vocab_size)
    draft = read(value)
    tools = read_tools(value)
    try:
        made = new_conversation(
            label=label_of(value) or "",
            messages=tuple(draft.messages),
            tools=tuple(tools),
            input_ids=tuple(draft.input_ids),
        )
    except UnicodeEncodeError as error:
        raise RowError("text holds a lone surrogate", "half of a UTF-16 pair cannot be stored") from error
    except (ValueError, TypeError) as error:
        raise RowError("a value is not JSON", str(error)) from error
    if _holds_nul(made.id, made.messages, made.tools):
        raise RowError("text holds a NUL character", "databases cannot store it")
    return made, name, draft.warnings


def label_of(value: Any) -> str | None:  # noqa: ANN401  (any JSON value)
    """A row's own label as text, cut to 200 characters; None when it has none."""
    if not isinstance(value, dict):
        return None
    label = next((value[name] for name in LABEL_FIELDS if value.get(name) is not None), None)
    if isinstance(label, bool) or not isinstance(label, (str, int, float)):
        return None
    return str(label)[:LABEL_LENGTH]


def _reader(row: Row, vocab_size: int | None) -> tuple[str, Callable[[Row], Draft]]:
    readers: tuple[tuple[str, tuple[str, ...], Callable[[Row], Draft]], ...] = (
        ("pretokenized", pretokenized.FIELDS, partial(pretokenized.read, vocab_size=vocab_size)),
        ("messages", openai.FIELDS, openai.read),
        ("conversations", sharegpt.FIELDS, sharegpt.read),
        ("alpaca", alpaca.FIELDS, alpaca.read),
        ("plain", plain.FIELDS, plain.read),
    )
    for name, fields, read in readers:
        if any(row.get(field) is not None for field in fields):
            return name, read
    known = ", ".join(field for _, fields, _ in readers for field in fields)
    raise RowError("no field with a prompt", f"known are {known}")


def _holds_nul(value: Any, *more: Any) -> bool:  # noqa: ANN401  (JSON values)
    """Nesting is bounded: tools and calls were checked before, and the rest is flat."""
    if more:
        return any(_holds_nul(item) for item in (value, *more))
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_holds_nul(item) for pair in value.items() for item in pair)
    return isinstance(value, (list, tuple)) and any(_holds_nul(item) for item in value)
