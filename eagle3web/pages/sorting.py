"""Heads of columns that sort a list. The order stands in the address, so that a link shows the same list to everybody."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, kw_only=True)
class Column:
    word: str
    key: str = ""
    """What `?sort=` calls it; empty for a column that does not sort."""
    title: str = ""
    """Explains the word, on hover."""
    number: bool = False
    rising: bool = False
    """Sorts the smallest first at the first click: a loss is good when it is low."""


@dataclass(frozen=True)
class Head:
    column: Column
    order: str
    """ascending, descending, or empty while the list is sorted by something else."""
    href: str


def heads(columns: Sequence[Column], sort: str, query: Mapping[str, str]) -> list[Head]:
    """The columns with their links: a click sorts, another one the other way round. `query` is what the address keeps."""
    return [_head(column, sort, query) for column in columns]


def _head(column: Column, sort: str, query: Mapping[str, str]) -> Head:
    order = ""
    if column.key and sort.removeprefix("-") == column.key:
        order = "descending" if sort.startswith("-") else "ascending"
    rises = order == "descending" if order else column.rising
    wanted = {"sort": f"{'' if rises else '-'}{column.key}"}
    kept = {name: value for name, value in query.items() if value}
    return Head(column, order, f"?{urlencode(kept | wanted)}")
