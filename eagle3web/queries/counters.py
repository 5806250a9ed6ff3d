"""The last word of an attempt's progress, typed again."""

from typing import TypeVar

from eagle3web.models import Attempt
from pipeline.event import Event

Word = TypeVar("Word", bound=Event)


def last_word(attempt: Attempt, kind: type[Word]) -> Word | None:
    """The newest event of that kind, from the attempt's own row; None before any, or from a pipeline with other fields."""
    told = attempt.counters.get(kind.kind)
    if told is None:
        return None
    try:
        return kind(**told)
    except TypeError:
        return None
