"""The newest state of one topic, with a number on every part, so that a viewer gets exactly what it lacks.

There are no queues: a viewer that is slow, or was away, asks for everything after its own cursor, and several changes of one
fragment in between reach it as the last one. Memory does not grow with slow viewers, and nothing that is appended is lost.
"""

import json
import secrets
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eagle3web.live.records import Batch, Cursor, Entry, Reading

RING = 2000
"""Entries of a stream that stay in memory; older ones are read from the database again."""
FIRST_ENTRIES = 500
"""Entries of a stream that a viewer gets who has none."""

Missed = tuple[list[Entry], int]
"""Entries that were read again, and how many before them were left out."""


@dataclass(frozen=True)
class Gap:
    """Entries that a viewer lacks and that are no longer in memory: above `after`, up to and with `up_to`."""

    stream: str
    after: int
    up_to: int


@dataclass
class Stream:
    """The newest entries; all numbered above `floor` are here."""

    floor: int
    ring: deque[Entry] = field(default_factory=deque)

    @property
    def last(self) -> int:
        return self.ring[-1][0] if self.ring else self.floor

    def extend(self, batch: Batch) -> None:
        if batch.after != self.last:
            self.floor = batch.after
            self.ring.clear()
        self.ring.extend(batch.entries)
        while len(self.ring) > RING:
            self.floor = self.ring.popleft()[0]


@dataclass
class Feed:
    """One topic's state. `n` counts the changes; `epoch` names this counting, which ends with the process."""

    epoch: str = field(default_factory=lambda: secrets.token_hex(6))
    n: int = 0
    title: str = ""
    _title_n: int = 0
    _fragments: dict[str, tuple[int, str]] = field(default_factory=dict)
    _streams: dict[str, Stream] = field(default_factory=dict)
    _encoded: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def apply(self, reading: Reading) -> bool:
        """Take a reading in. True when it changed anything."""
        n = self.n + 1
        changed = self.n == 0
        if reading.title != self.title:
            self.title, self._title_n, changed = reading.title, n, True
        for key, html in reading.fragments.items():
            if self._fragments.get(key, (0, None))[1] != html:
                self._fragments[key] = (n, html)
                changed = True
        for key in self._fragments.keys() - reading.fragments.keys():
            del self._fragments[key]
        for name, batch in reading.streams.items():
            self._streams.setdefault(name, Stream(batch.after)).extend(batch)
            changed = changed or bool(batch.entries)
        if changed:
            self.n = n
            self._encoded.clear()
        return changed

    def gaps(self, cursor: Cursor) -> list[Gap]:
        """What must be read from the database before `message` can close the viewer's gap."""
        return [
            Gap(name, cursor.streams[name], stream.floor)
            for name, stream in self._streams.items()
            if cursor.streams.get(name, stream.floor) < stream.floor
        ]

    def message(self, cursor: Cursor, missed: Mapping[str, Missed]) -> tuple[str, Cursor] | None:
        """The JSON that brings a viewer from its cursor to now, and its new cursor; None when it lacks nothing.

        `missed` holds, by stream, what was read for `gaps`.
        """
        known = cursor.n if cursor.epoch == self.epoch and cursor.n <= self.n else 0
        if known == self.n:
            return None
        key = (known, tuple(sorted(cursor.streams.items())))
        text = self._encoded.get(key) if not missed else None
        if text is None:
            text = self._encode(known, cursor, missed)
            if not missed:
                self._encoded[key] = text
        last = {name: stream.last for name, stream in self._streams.items()}
        return text, Cursor(epoch=self.epoch, n=self.n, streams={**cursor.streams, **last})

    def _encode(self, known: int, cursor: Cursor, missed: Mapping[str, Missed]) -> str:
        body: dict[str, Any] = {
            "type": "delta" if known else "snapshot",
            "epoch": self.epoch,
            "from": known,
            "n": self.n,
            "fragments": {key: html for key, (n, html) in self._fragments.items() if n > known},
            "streams": {name: self._tail(name, cursor.streams.get(name), missed) for name in self._streams},
        }
        body["streams"] = {name: tail for name, tail in body["streams"].items() if tail["entries"]}
        if self._title_n > known:
            body["title"] = self.title
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"))

    def _tail(self, name: str, after: int | None, missed: Mapping[str, Missed]) -> dict[str, Any]:
        ring = self._streams[name].ring
        if after is None:
            entries = list(ring)[-FIRST_ENTRIES:]
            return {"entries": entries, "skipped": entries[0][0] - 1 if entries else 0}
        older, skipped = missed.get(name, ([], 0))
        return {"entries": [*older, *(entry for entry in ring if entry[0] > after)], "skipped": skipped}
