"""Lines of events.jsonl, read for the database: bounded, cleaned, and only as typed as they really are."""

import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import events
from pipeline.config import from_mapping
from pipeline.errors import ConfigError

BATCH_LINES = 500
BATCH_BYTES = 1024 * 1024
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Lines that follow one another, and the place after them."""

    lines: list[events.Line]
    end: int
    """Byte offset after the last line read, broken ones included."""


def read_batch(path: Path, *, offset: int) -> Batch:
    """The finished lines from `offset` on, as many as one transaction should take. A broken line is skipped and logged."""
    lines: list[events.Line] = []
    end = offset
    for raw in _finished_lines(path, offset=offset):
        if (line := _parsed(raw, path)) is not None:
            lines.append(line)
        end += len(raw)
        if len(lines) >= BATCH_LINES or end - offset >= BATCH_BYTES:
            break
    return Batch(lines=lines, end=end)


def typed(line: events.Line) -> events.Event:
    """The event, with every field of its declared type; an UnknownEvent when one is not: it may come from another version."""
    cls = events.KINDS.get(line.kind)
    if cls is None:
        return events.UnknownEvent(name=line.kind, payload=line.payload)
    try:
        return from_mapping(cls, line.payload)
    except (ConfigError, TypeError, ValueError) as error:
        log.warning("event %d (%s) is kept raw: %s", line.seq, line.kind, error)
        return events.UnknownEvent(name=line.kind, payload=line.payload)


def clean(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    """The value without what PostgreSQL cannot store: NUL becomes its picture, half a surrogate pair a question mark, and a
    number that is none (`Infinity`, which Python's JSON reads) becomes null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return value.replace("\0", "␀").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean(item) for item in value]
    return value


def last_word(path: Path) -> events.Event | None:
    """The event with which the stage ended its own account; None when it died before."""
    last: events.Line | None = None
    for raw in _finished_lines(path, offset=0):
        if any(kind.encode() in raw for kind in events.LAST_KINDS):
            line = _parsed(raw, path)
            last = line if line is not None and line.kind in events.LAST_KINDS else last
    return None if last is None else typed(last)


def _parsed(raw: bytes, path: Path) -> events.Line | None:
    try:
        return events.parse(raw)
    except (ValueError, TypeError) as error:
        log.warning("%s: a line is no event (%s): %r", path, error, raw[:200])
        return None


def _finished_lines(path: Path, *, offset: int) -> Iterator[bytes]:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        file.seek(offset)
        for raw in file:
            if not raw.endswith(b"\n"):
                return
            yield raw
