"""What the terminal shows while a run is followed."""

import io

import pytest
from rich.console import Console

from eagle3web.enums import AttemptStatus, DatasetState
from eagle3web.models import Attempt
from eagle3web.system.follow import WIDE, cells, follow, line, table
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def ended_attempt() -> Attempt:
    attempt = make.attempt(status=AttemptStatus.FINISHED, reason="all budgets met")
    make.progress(
        attempt, dataset="B1_tools", state=DatasetState.SKIPPED, reason="budget_met", tokens=17_030_000, budget=10_000_000
    )
    return attempt


def text(width: int, attempt: Attempt) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table(attempt.run, attempt, wide=width >= WIDE))
    found = console.file
    assert isinstance(found, io.StringIO)
    return found.getvalue()


def test_table_names_a_skip_with_its_numbers() -> None:
    row = next(line for line in text(WIDE, ended_attempt()).splitlines() if line.startswith("B1_tools"))
    assert row.split()[:9] == ["B1_tools", "skipped,", "budget", "met", "17.03", "M", "10.00", "M", "━" * 24]


def test_table_leaves_the_bars_out_of_a_narrow_terminal() -> None:
    shown = text(80, ended_attempt())
    assert "━" not in shown
    assert max(len(row.rstrip()) for row in shown.splitlines()) <= 80


def test_cells_show_no_rate_of_a_dataset_that_stands_still() -> None:
    row = make.progress(state=DatasetState.PENDING, tokens_per_s=12.0, eta_s=30.0)
    assert cells(row, wide=False)[-3] == ""
    assert cells(row, wide=False)[-1] == ""


def test_line_counts_each_moving_dataset() -> None:
    attempt = make.attempt()
    make.progress(
        attempt,
        dataset="B3_math",
        state=DatasetState.RUNNING,
        done=12,
        total=270,
        errors=0,
        requests_per_s=1.24,
        mean_completion=180.4,
        tokens=2160,
        budget=3000,
    )
    assert line(attempt.run, attempt) == "B3_math: 12/270 (0 err) 1.2 req/s avg_comp=180tok 2.2 k of 3.0 k"


def test_line_says_what_a_run_waits_for() -> None:
    attempt = make.attempt(waiting_for="no engine answers")
    assert line(attempt.run, attempt) == f"run {attempt.run.pk} attempt 1 running: no engine answers"


def test_follow_returns_with_the_reason_when_the_run_has_ended() -> None:
    attempt = ended_attempt()
    console = Console(file=io.StringIO(), width=WIDE)
    follow(attempt.run, console=console, check=lambda: None)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines()[-1] == f"Run {attempt.run.pk} finished: all budgets met"
