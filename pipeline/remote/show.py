"""Rows on a terminal, or as JSON for programs."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.logs import ESCAPES

UNLIMITED = 100_000
"""Columns of what is no terminal: nothing is cut in a pipe."""
STYLES = {
    "running": "blue", "starting": "blue", "waiting": "blue", "finished": "green", "healthy": "green", "failed": "red",
    "down": "red", "lost": "magenta", "unresponsive": "magenta", "silent": "yellow", "hanging": "yellow",
}  # fmt: skip
RIGHT = frozenset({"tokens", "budget", "max_samples", "version", "step", "accept length", "loss", "size", "prompts", "tok/s"})
"""Columns of numbers."""


class Printer:
    """Where a command's answer goes: standard output, for people or for programs."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._console = Console() if sys.stdout.isatty() else Console(width=UNLIMITED)

    def table(self, rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, empty: str) -> None:
        """Rows under their columns. `empty` says what it means that there are none."""
        found = list(rows)
        if not found:
            self.say(empty)
            return
        table = Table(box=None, pad_edge=False, header_style="dim")
        for column in columns:
            table.add_column(column, justify="right" if column in RIGHT else "left", overflow="fold")
        for row in found:
            table.add_row(*(cell(row.get(column)) for column in columns))
        self._console.print(table)

    def say(self, text: str) -> None:
        self._console.print(cell(text), soft_wrap=True)

    def json(self, value: Any) -> None:  # noqa: ANN401  (JSON)
        sys.stdout.write(json.dumps(value, indent=1) + "\n")


def cell(value: Any) -> Text:  # noqa: ANN401  (a value of a row)
    """A value as text that cannot steer a terminal: names come from people."""
    written = "–" if value is None else plain(str(value))
    return Text(written, style=STYLES.get(written.partition(":")[0], ""))


def plain(text: str) -> str:
    """The text without control characters, on one line."""
    return text.replace("\n", "\\n").translate(ESCAPES)


def count(value: float | None) -> str | None:
    """`17,030,000`; None stays None."""
    return None if value is None else f"{value:,.0f}"


def moment(stamp: str | None) -> str | None:
    """`2026-01-15 11:24:12Z`."""
    return None if stamp is None else f"{datetime.fromisoformat(stamp).astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
