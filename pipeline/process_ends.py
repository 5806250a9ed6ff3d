"""How a process of ours ended, in words for a person."""

import signal
from pathlib import Path

LAST_LINES = 3
LINE_CHARS = 300
READ_BYTES = 64 * 1024


def how_it_ended(code: int) -> str:
    """Of subprocess's number, which is negative for a signal."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def last_words(log: Path) -> str:
    """The last lines of its log that say something, in one line; empty when there are none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - READ_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return " | ".join([line.strip()[:LINE_CHARS] for line in text.splitlines() if line.strip()][-LAST_LINES:])
