"""Who did what to what: entries in words, with a link to the thing where it has a page."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from eagle3web.formats import count
from eagle3web.models import AuditEntry
from eagle3web.text import cut, visible

PER_PAGE = 50
DETAIL_LIMIT = 160
"""Characters of one detail in the table; the export has them whole."""
PLACES: Mapping[str, Callable[[int], str]] = {
    "run": lambda key: reverse("run", args=[key]),
    "checkpoint": lambda key: reverse("checkpoint", args=[key]),
    "token budget": lambda key: reverse("admin:eagle3web_tokenbudget_history", args=[key]),
    "user": lambda key: reverse("admin:eagle3web_user_change", args=[key]),
    "engine": lambda key: reverse("engines"),
    "project": lambda key: reverse("admin:eagle3web_project_change", args=[key]),
    "dataset": lambda key: reverse("admin:eagle3web_dataset_change", args=[key]),
    "comment": lambda key: reverse("admin:eagle3web_comment_change", args=[key]),
}
"""Kinds of things that have a page, by the name that entries give them."""


@dataclass(frozen=True, kw_only=True)
class ShownEntry:
    entry: AuditEntry
    href: str
    """Page of the thing; empty where it has none."""
    details: list[tuple[str, str]]
    """Name and value, cut; a change is `old → new`."""


def shown_entry(entry: AuditEntry) -> ShownEntry:
    return ShownEntry(entry=entry, href=place_of(entry.target), details=details_of(entry.detail))


def place_of(target: str) -> str:
    found = re.fullmatch(r"(.+) (\d{1,15})", target, re.ASCII)
    make = PLACES.get(found[1]) if found else None
    return make(int(found[2])) if found and make else ""


def details_of(detail: object) -> list[tuple[str, str]]:
    """The detail's keys, one line each; `changes` is opened into one line a field."""
    if not isinstance(detail, dict):
        return []
    found = []
    for name, value in detail.items():
        if name == "changes" and isinstance(value, dict):
            found += [(field, _arrow(pair)) for field, pair in value.items()]
        elif value not in ("", None, [], {}):
            found.append((name, _words(value)))
    return [(cut(visible(str(name)), 40)[0], words) for name, words in found]


def _arrow(pair: Any) -> str:  # noqa: ANN401  (JSON of any kind)
    if isinstance(pair, list) and len(pair) == 2:
        return f"{_words(pair[0])} → {_words(pair[1])}"
    return _words(pair)


def _words(value: Any) -> str:  # noqa: ANN401  (JSON of any kind)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    words, left_out = cut(visible(str(value)), DETAIL_LIMIT)
    return f"{words}…" if left_out else words
