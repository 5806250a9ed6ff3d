"""Rows that hold one prompt in one field: `{"prompt": …}`, `{"question": …}`, `{"text": …}`."""

from pipeline.datasets.formats.draft import Draft, Row
from pipeline.datasets.formats.turns import draft_of_turns
from pipeline.datasets.json_value import Json
from pipeline.datasets.report import RowError

FIELDS = ("prompt", "question", "query", "problem", "text")


def read(row: Row) -> Draft:
    """A string is one user turn. A list of strings is one user turn of several paragraphs, a list of objects is a chat."""
    field = next(name for name in FIELDS if row.get(name) is not None)
    value = row[field]
    if isinstance(value, list) and value and all(isinstance(turn, dict) for turn in value):
        return draft_of_turns(value, field=field, system=row.get("system"))
    text = _text(value, field)
    if not text.strip():
        raise RowError(f"empty {field}")
    return Draft(messages=[{"role": "user", "content": text}])


def _text(value: Json, field: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(turn, str) for turn in value):
        return "\n\n".join(value)
    raise RowError(f"{field} is not text")
