"""Estimates in words, with their range."""

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.budget import Range

EARLY = "too few answers yet"


@dataclass(frozen=True)
class Span:
    """An estimate in words, with its range where that says more."""

    likely: str
    range: str


def span(value: Range | None, write: Callable[[float], str], *, early: bool = False) -> Span:
    """`write` is a function of eagle3web.formats. An `early` range is so wide that it is better left out."""
    if value is None:
        return Span("–", "")
    low, likely, high = write(value.low), write(value.likely), write(value.high)
    if early and low != high:
        return Span(likely, EARLY)
    return Span(likely, "" if low == high else f"{low} to {high}")
