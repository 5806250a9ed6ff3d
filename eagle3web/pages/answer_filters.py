"""What the address of a list of answers says: its filters and its order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eagle3web.enums import FlagState
from eagle3web.pages.typed import whole
from eagle3web.queries.answers import ENDS, SORTS, AnswerFilter

MOST_TOKENS = 2**31 - 1
SHARES = (10, 20, 30, 50, 80)
"""Per cent of repeated sequences that the page offers to begin from."""


@dataclass(frozen=True)
class Choice:
    value: str
    words: str
    chosen: bool


END_CHOICES = {"": "any end", "stop": "ended by itself", "length": "cut off", "error": "errors"}
MARK_CHOICES = {"": "any mark", "flagged": "flagged", "excluded": "excluded", "kept": "kept"}
SORT_CHOICES = {
    "newest": "newest first",
    "oldest": "oldest first",
    "longest": "longest first",
    "shortest": "shortest first",
    "repetitive": "most repetitive",
}
SHARE_CHOICES = {"": "any repetition"} | {str(share): f"repeats ≥ {share} %" for share in SHARES}


def read_filter(query: Mapping[str, str], datasets: Sequence[str]) -> AnswerFilter:
    """What makes no sense in an address is passed over. The first dataset where none is named; `datasets` may be empty."""
    share = whole(query.get("repetition", ""))
    return AnswerFilter(
        dataset=query.get("dataset", "")[:80] or (datasets[0] if datasets else ""),
        finish=_one_of(ENDS, query.get("finish", "")),
        shortest=_tokens(query.get("min", "")),
        longest=_tokens(query.get("max", "")),
        repetition=None if share is None else min(share, 100) / 100,
        language=query.get("language", "").replace("\0", "")[:20],
        mark=_one_of(FlagState.values, query.get("mark", "")),
        text=query.get("q", "").replace("\0", "")[:200],
        sort=_one_of(tuple(SORTS), query.get("sort", "")) or "newest",
    )


def choices(words: Mapping[str, str], chosen: str) -> list[Choice]:
    return [Choice(value, text, value == chosen) for value, text in words.items()]


def filter_choices(wanted: AnswerFilter) -> dict[str, list[Choice]]:
    """Of each selection on the page, by the name of its field."""
    share = "" if wanted.repetition is None else str(round(wanted.repetition * 100))
    words = {
        "finish": (END_CHOICES, wanted.finish),
        "mark": (MARK_CHOICES, wanted.mark),
        "sort": (SORT_CHOICES, wanted.sort),
        "repetition": (SHARE_CHOICES if share in SHARE_CHOICES else SHARE_CHOICES | {share: f"repeats ≥ {share} %"}, share),
    }
    return {name: choices(offered, chosen) for name, (offered, chosen) in words.items()}


def _tokens(text: str) -> int | None:
    found = whole(text)
    return None if found is None else min(found, MOST_TOKENS)


def _one_of(known: Sequence[str], word: str) -> str:
    return word if word in known else ""
