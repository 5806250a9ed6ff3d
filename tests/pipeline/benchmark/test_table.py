from io import StringIO

from rich.console import Console

from pipeline.benchmark.table import cells, print_summary

PLAIN = {
    "dataset": "B1",
    "mode": "plain",
    "shape": "",
    "concurrency": 4,
    "tokens_per_s": 100.04,
    "tokens_per_s_low": 90.0,
    "tokens_per_s_high": 110.0,
    "speedup": None,
    "speedup_low": None,
    "speedup_high": None,
    "accept_length": None,
    "first_token_s": 0.0512,
    "inter_token_s": None,
}
DRAFTER = PLAIN | {
    "dataset": "",
    "mode": "drafter",
    "shape": "3/1/4",
    "speedup": 1.254,
    "speedup_low": 1.2,
    "speedup_high": 1.3,
    "accept_length": 1.806,
}


def test_rows_are_written_as_people_read_them() -> None:
    assert cells(PLAIN) == ("B1", "4", "plain", "100.0", "90.0–110.0", "baseline", "", "", "51.2 ms", "")
    assert cells(DRAFTER)[0] == "all"
    assert cells(DRAFTER)[2] == "drafter 3/1/4"
    assert cells(DRAFTER)[5:8] == ("1.25×", "1.20–1.30", "1.81")


def test_table_begins_with_all_datasets_and_ends_with_the_verdict() -> None:
    written = StringIO()
    summary = {"rows": [PLAIN, DRAFTER, PLAIN | {"dataset": "[red]A"}], "verdict": "It is [bold]worth[/] its place."}
    print_summary(summary, Console(file=written, width=140))
    lines = written.getvalue().splitlines()
    assert [line.split("│")[1].strip() for line in lines if line.startswith("│")] == ["all", "B1", "[red]A"]
    assert lines[-1] == "It is [bold]worth[/] its place."
