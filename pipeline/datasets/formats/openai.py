"""OpenAI's `{"messages": [{"role", "content"}], "tools"?}`."""

from pipeline.datasets.formats.draft import Draft, Row
from pipeline.datasets.formats.turns import draft_of_turns

FIELDS = ("messages",)


def read(row: Row) -> Draft:
    return draft_of_turns(row["messages"], field="messages", system=row.get("system"))
