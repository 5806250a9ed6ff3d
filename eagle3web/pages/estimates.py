"""Estimates in words, with their range."""

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.budget import Range


@dataclass(frozen=True)
class Span:
    """An estimate in words, with its range where that says more."""

    likely: str
    range: str


def span(value: Range | None, write: Callable[[float], str]) -> Span:
    """`write` is a function of eagle3web.formats."""
    if value is None:
        return Span("–", "")
    low, likely, high = write(value.low), write(value.likely), write(value.high)
    return Span(likely, "" if low == high else f"{low} to {high}")
