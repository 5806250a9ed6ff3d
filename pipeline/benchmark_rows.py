"""The rows of a benchmark's summary, as JSON has them, and the one among them that stands for a mode."""

from collections.abc import Mapping, Sequence
from typing import Any

ALL = ""
"""The dataset of a row over all datasets."""
Row = Mapping[str, Any]
"""The fields of a BenchmarkSummarised."""


def headline(rows: Sequence[Row], mode: str, *, dataset: str = ALL) -> Row | None:
    """A mode's row at the lowest concurrency, in its fastest shape; None when the mode was not measured."""
    found = [row for row in rows if row["mode"] == mode and row["dataset"] == dataset]
    if not found:
        return None
    lowest = min(row["concurrency"] for row in found)
    return max((row for row in found if row["concurrency"] == lowest), key=lambda row: float(row["tokens_per_s"]))
