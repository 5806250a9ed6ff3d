from typing import Any

from pipeline.benchmark_rows import headline


def row(mode: str = "drafter", **changes: Any) -> dict[str, Any]:
    return {"dataset": "", "mode": mode, "shape": "3/1/4", "concurrency": 1, "tokens_per_s": 100.0} | changes


def test_headline_is_the_fastest_shape_at_the_lowest_concurrency() -> None:
    rows = [
        row("plain"),
        row("lookup", tokens_per_s=900.0),
        row(),
        row(shape="5/1/6", tokens_per_s=120.0),
        row(concurrency=8, tokens_per_s=300.0),
        row(dataset="B1", tokens_per_s=500.0),
    ]
    assert headline(rows, "drafter") == rows[3]
    assert headline(rows, "drafter", dataset="B1") == rows[5]
    assert headline(rows, "lookup") == rows[1]


def test_mode_that_was_not_measured_has_no_headline() -> None:
    assert headline([row("plain")], "drafter") is None
