"""What travels between the database and a viewer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

Entry = tuple[int, Any]
"""One entry of a stream: a number that only grows (a log line's number, a point's id), and JSON-able data."""


@dataclass(frozen=True)
class Batch:
    """Entries of a stream, oldest first: all that are numbered above `after`."""

    after: int
    entries: Sequence[Entry] = ()


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One look at a topic."""

    fragments: Mapping[str, str] = field(default_factory=dict)
    """Element id → HTML. Free of ages, so that a fragment differs only when something happened: browsers tick the clocks."""
    title: str = ""
    """What the browser's tab says."""
    streams: Mapping[str, Batch] = field(default_factory=dict)
    """Stream → what is new since the reader's last look."""
    look_again: datetime | None = None
    """When the clock alone will change a word on the screen (running → silent)."""
    now: datetime | None = None
    """The moment of the look by the database's clock, where that is not this host's: ages count from it."""


class Reader(Protocol):
    """Reads one topic for viewers with the same rights. Used from one thread at a time."""

    pokes: frozenset[str]
    """Poke topics after which to look at once."""

    def read(self, now: datetime) -> Reading:
        """Look at the database."""

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        """Entries above `after`, up to and with `up_to`, that have left memory; and how many older ones were left out."""


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """How much of a feed a viewer has. It comes back from the browser, so nothing in it is trusted."""

    epoch: str = ""
    n: int = 0
    streams: Mapping[str, int] = field(default_factory=dict)
    """Stream → number of the last entry that the viewer has."""

    @classmethod
    def from_json(cls, value: object) -> "Cursor":
        """Read what a browser sent; whatever makes no sense counts as nothing seen."""
        if not isinstance(value, dict):
            return cls()
        streams = value.get("streams")
        known = list(streams.items())[:10] if isinstance(streams, dict) else []
        return cls(
            epoch=str(value.get("epoch", ""))[:40],
            n=_number(value.get("n")) or 0,
            streams={str(k)[:40]: number for k, v in known if (number := _number(v)) is not None},
        )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
