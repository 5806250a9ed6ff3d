"""What the terminal shows while a run is followed."""

import io

import pytest
from rich.console import Console

from eagle3web.enums import AttemptStatus, DatasetState, RunStatus
from eagle3web.models import Attempt, DatasetProgress, Run
from eagle3web.system.datasets_view import BAR_WIDTH, cells
from eagle3web.system.follow import WIDE, follow, follow_chain, lines, table
from tests.support import factories as make
from tests.support.pipelines import chain_of, ready_project

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
    assert row.split()[:9] == ["B1_tools", "skipped,", "budget", "met", "17.03", "M", "10.00", "M", "━" * BAR_WIDTH]


def test_table_leaves_the_bars_out_of_a_narrow_terminal() -> None:
    shown = text(80, ended_attempt())
    assert "━" not in shown
    assert max(len(row.rstrip()) for row in shown.splitlines()) <= 80


def test_cells_show_no_rate_of_a_dataset_that_stands_still() -> None:
    row = make.progress(state=DatasetState.PENDING, tokens_per_s=12.0, eta_s=30.0)
    assert cells(row, wide=False)[-3] == ""
    assert cells(row, wide=False)[-1] == ""


def test_lines_count_each_moving_dataset() -> None:
    attempt = make.attempt()
    make.progress(attempt, dataset="B4_chat", state=DatasetState.PENDING)
    make.progress(attempt, dataset="B5_tools", done=1, total=2, errors=0, tokens=900, budget=None, mean_completion=900.0)
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
    assert lines(attempt.run, attempt) == [
        "B5_tools: 1/2 (0 err) 0.9 req/s avg_comp=900tok 900 of all",
        "B3_math: 12/270 (0 err) 1.2 req/s avg_comp=180tok 2.2 k of 3.0 k",
    ]


def test_follow_writes_what_moved_line_by_line_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eagle3web.system.follow.POLL_S", 0.0)
    monkeypatch.setattr("eagle3web.system.follow.LINE_EVERY_S", 0.0)
    attempt = make.attempt()
    moving = make.progress(attempt, dataset="B1", done=1, total=9, tokens=100, budget=900, mean_completion=100.0)
    make.progress(attempt, dataset="B2", done=1, total=9, tokens=100, budget=900, mean_completion=100.0)
    looks = iter(range(5))

    def check() -> None:
        look = next(looks)
        if look == 2:
            DatasetProgress.objects.filter(pk=moving.pk).update(done=2)
        elif look == 4:
            Run.objects.update(status=RunStatus.STOPPED)

    console = Console(file=io.StringIO(), width=WIDE)
    follow(attempt.run, console=console, check=check)
    assert isinstance(console.file, io.StringIO)
    written = [line.split(" (")[0] for line in console.file.getvalue().splitlines() if " err) " in line]
    assert written == ["B1: 1/9", "B2: 1/9", "B1: 2/9"]


def test_line_says_what_a_run_waits_for() -> None:
    attempt = make.attempt(waiting_for="no engine answers")
    assert lines(attempt.run, attempt) == [f"run {attempt.run.pk} attempt 1 running: no engine answers"]


def test_follow_returns_with_the_reason_when_the_run_has_ended() -> None:
    attempt = ended_attempt()
    console = Console(file=io.StringIO(), width=WIDE)
    follow(attempt.run, console=console, check=lambda: None)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines()[-1] == f"Run {attempt.run.pk} finished: all budgets met"


def test_line_of_a_run_that_is_held_names_the_other() -> None:
    generate, extract, *_ = chain_of(ready_project())
    assert lines(extract, None) == [f"run {extract.pk} queued: waits for r{generate.pk} generate"]


def test_follow_chain_ends_with_the_first_run_that_does_not_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eagle3web.system.follow.POLL_S", 0.0)
    generate, extract, train, benchmark = chain_of(ready_project())
    make.attempt(generate, status=AttemptStatus.FINISHED)
    make.attempt(extract, status=AttemptStatus.FAILED, reason="failed: disk full")
    console = Console(file=io.StringIO(), width=WIDE)
    assert not follow_chain([generate, extract, train, benchmark], console=console, check=lambda: None)
    assert isinstance(console.file, io.StringIO)
    written = console.file.getvalue()
    assert f"Stage 2 of 4: extract (run {extract.pk})" in written
    assert written.splitlines()[-1] == f"Run {extract.pk} failed: failed: disk full"


def test_follow_chain_goes_through_finished_runs_to_the_end() -> None:
    chain = chain_of(ready_project())
    for run in chain:
        make.attempt(run, status=AttemptStatus.FINISHED)
    assert follow_chain(chain, console=Console(file=io.StringIO(), width=WIDE), check=lambda: None)
