"""The normalised prompt that everything downstream reads: one conversation that ends where the model's turn begins."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.datasets.json_value import Json
from pipeline.datasets.report import RowError
from pipeline.errors import DataError


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """A prompt: chat messages that end with a user turn or a tool result, or token ids that are ready to send.

    Generation continues after the last turn. Earlier assistant turns are context; an old answer after the last user turn is
    no part of it.
    """

    key: str
    """Stable name of the prompt, a hash of label and content: 16 hexadecimal digits, unique in its revision."""
    id: str
    """The source's own label, `""` when it had none. Untrusted text: never a file name, not always unique."""
    messages: tuple[Mapping[str, Any], ...] = ()
    """`{"role", "content", …}` with role system | user | assistant | tool; content is always a string."""
    tools: tuple[Mapping[str, Any], ...] = ()
    """Function schemas in OpenAI's shape, for the chat template."""
    input_ids: tuple[int, ...] = ()
    """A prompt that came as token ids; then there are no messages."""

    def to_line(self) -> bytes:
        """One line of prompts.jsonl, newline included."""
        content = _content(self.id, self.messages, self.tools, self.input_ids)
        return b'{"key":"%b",%b\n' % (self.key.encode(), content[1:])

    @classmethod
    def from_line(cls, line: bytes | str) -> "Conversation":
        """Read a line of prompts.jsonl back. Raises DataError when it is none."""
        try:
            row = json.loads(line)
            return cls(
                key=row["key"],
                id=row["id"],
                messages=tuple(row.get("messages", ())),
                tools=tuple(row.get("tools", ())),
                input_ids=tuple(row.get("input_ids", ())),
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise DataError(f"not a normalised prompt: {error}") from error


def new_conversation(
    *,
    label: str,
    messages: tuple[Mapping[str, Any], ...] = (),
    tools: tuple[Mapping[str, Any], ...] = (),
    input_ids: tuple[int, ...] = (),
) -> Conversation:
    """Make a conversation and its key. Raises RowError for values that JSON, UTF-8 or a database cannot hold."""
    try:
        content = _content(label, messages, tools, input_ids)
    except UnicodeEncodeError as error:
        raise RowError("text holds a lone surrogate", "half of a UTF-16 pair cannot be stored") from error
    except (ValueError, TypeError) as error:
        raise RowError("a value is not JSON", str(error)) from error
    if rb"\u0000" in content and any(_holds_nul(value) for value in (label, messages, tools)):
        raise RowError("text holds a NUL character", "databases cannot store it")
    key = hashlib.blake2b(content, digest_size=8).hexdigest()
    return Conversation(key=key, id=label, messages=messages, tools=tools, input_ids=input_ids)


def read_prompts(path: Path, *, offset: int = 0) -> Iterator[Conversation]:
    """Stream a revision's prompts.jsonl, from a byte offset on. Raises DataError that names file and line."""
    with path.open("rb") as file:
        file.seek(offset)
        for number, line in enumerate(file, start=1):
            try:
                yield Conversation.from_line(line)
            except DataError as error:
                where = f"line {number}" + (f" after byte {offset}" if offset else "")
                raise DataError(f"{path}, {where}: {error}") from error


def _content(
    label: str, messages: tuple[Mapping[str, Any], ...], tools: tuple[Mapping[str, Any], ...], input_ids: tuple[int, ...]
) -> bytes:
    """What the key is a hash of: the line's JSON without its key."""
    body: dict[str, Any] = {"id": label}
    if messages:
        body["messages"] = messages
    if tools:
        body["tools"] = tools
    if input_ids:
        body["input_ids"] = input_ids
    return _encoder.encode(body).encode()


def _holds_nul(value: Json) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Mapping):
        return any(_holds_nul(item) for pair in value.items() for item in pair)
    return isinstance(value, (list, tuple)) and any(_holds_nul(item) for item in value)


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
