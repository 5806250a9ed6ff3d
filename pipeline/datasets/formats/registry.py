"""Which format a row is in, by the fields that it has."""

from collections.abc import Callable

from pipeline.datasets.conversation import Conversation, new_conversation
from pipeline.datasets.formats import alpaca, openai, plain, pretokenized, sharegpt
from pipeline.datasets.formats.draft import Draft, Row
from pipeline.datasets.formats.toolcalls import read_tools
from pipeline.datasets.json_value import Json
from pipeline.datasets.report import RowError

FORMATS: dict[str, tuple[str, Callable[[Row], Draft]]] = {
    field: (name, read)
    for name, fields, read in (
        ("messages", openai.FIELDS, openai.read),
        ("conversations", sharegpt.FIELDS, sharegpt.read),
        ("alpaca", alpaca.FIELDS, alpaca.read),
        ("plain", plain.FIELDS, plain.read),
    )
    for field in fields
}
"""Field → format and its reader. Of several fields in one row the first one here decides; token ids come before all."""

LABEL_FIELDS = ("id", "uuid", "uid", "conversation_id", "prompt_id", "question_id", "task_id")
LABEL_LENGTH = 200


def normalise(value: Json, *, vocab_size: int | None = None) -> tuple[Conversation, str, list[str]]:
    """Turn a row into `(conversation, name of its format, warnings)`. Raises RowError."""
    if not isinstance(value, dict):
        raise RowError("row is not an object")
    if value.get(pretokenized.FIELD) is not None:
        name, draft = "pretokenized", pretokenized.read(value, vocab_size=vocab_size)
    else:
        name, read = _reader(value)
        draft = read(value)
    conversation = new_conversation(
        label=label_of(value) or "",
        messages=tuple(draft.messages),
        tools=tuple(read_tools(value)),
        input_ids=tuple(draft.input_ids),
    )
    return conversation, name, draft.warnings


def label_of(value: Json) -> str | None:
    """A row's own label as text, cut to 200 characters; None when it has none."""
    if not isinstance(value, dict):
        return None
    label = next((value[name] for name in LABEL_FIELDS if value.get(name) is not None), None)
    if isinstance(label, bool) or not isinstance(label, (str, int, float)):
        return None
    return str(label)[:LABEL_LENGTH]


def _reader(row: Row) -> tuple[str, Callable[[Row], Draft]]:
    for field, reader in FORMATS.items():
        if row.get(field) is not None:
            return reader
    raise RowError("no field with a prompt", f"known are {pretokenized.FIELD}, {', '.join(FORMATS)}")
