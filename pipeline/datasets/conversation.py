"""The normalised prompt that everything downstream reads: one conversation that ends where the model's turn begins."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
        return _dump({"key": self.key, **_body(self.id, self.messages, self.tools, self.input_ids)}) + b"\n"

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
    """Make a conversation and its key.

    Raises UnicodeEncodeError for lone surrogates and ValueError for numbers that JSON does not have.
    """
    content = _dump(_body(label, messages, tools, input_ids))
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


def _body(
    label: str, messages: tuple[Mapping[str, Any], ...], tools: tuple[Mapping[str, Any], ...], input_ids: tuple[int, ...]
) -> dict[str, Any]:
    body: dict[str, Any] = {"id": label}
    if messages:
        body["messages"] = messages
    if tools:
        body["tools"] = tools
    if input_ids:
        body["input_ids"] = input_ids
    return body


def _dump(value: Any) -> bytes:  # noqa: ANN401  (any JSON value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
