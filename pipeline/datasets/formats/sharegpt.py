"""ShareGPT's `{"conversations": [{"from", "value"}], "system"?}`; its turns may also use role and content."""

from pipeline.datasets.formats.draft import Draft, Row
from pipeline.datasets.formats.turns import draft_of_turns

FIELDS = ("conversations", "conversation")


def read(row: Row) -> Draft:
    field = next(name for name in FIELDS if row.get(name) is not None)
    return draft_of_turns(row[field], field=field, system=row.get("system"))
