"""A finished benchmark as a table for people at a shell."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.benchmark_rows import ALL, Row

COLUMNS = (
    "dataset",
    "at once",
    "decoding",
    "tokens/s",
    "spread",
    "speedup",
    "spread",
    "accept length",
    "first token",
    "a token",
)


def print_summary(summary: Mapping[str, Any], console: Console) -> None:
    """The rows and the verdict."""
    table = Table(title="held-out prompts, medians over repetitions", title_justify="left")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in ("dataset", "decoding") else "right", no_wrap=True)
    for row in sorted(summary["rows"], key=lambda row: (row["dataset"] != ALL, row["dataset"], row["concurrency"])):
        # Text, as a name in brackets would be taken for markup.
        table.add_row(*(Text(cell) for cell in cells(row)))
    console.print(table)
    console.print(Text(summary["verdict"]))


def cells(row: Row) -> tuple[str, ...]:
    """One row as people read it; what was not measured is empty."""
    return (
        row["dataset"] or "all",
        str(row["concurrency"]),
        f"{row['mode']} {row['shape']}".strip(),
        f"{row['tokens_per_s']:.1f}",
        f"{row['tokens_per_s_low']:.1f}–{row['tokens_per_s_high']:.1f}",
        "baseline" if row["mode"] == "plain" else f"{row['speedup']:.2f}×",
        "" if row["mode"] == "plain" else f"{row['speedup_low']:.2f}–{row['speedup_high']:.2f}",
        "" if row["accept_length"] is None else f"{row['accept_length']:.2f}",
        _milliseconds(row["first_token_s"]),
        _milliseconds(row["inter_token_s"]),
    )


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:.1f} ms"
