"""Follows a run in the terminal: a live table on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from eagle3web.enums import AttemptStatus, DatasetState, RunStatus
from eagle3web.formats import duration, tokens
from eagle3web.models import Attempt, DatasetProgress, Run

POLL_S = 0.5
LINE_EVERY_S = 10.0
"""Without a terminal, one line for each dataset that moved in this many seconds."""

BAR_WIDTH = 24
WIDE = 110
"""Columns of a terminal that has room for the bars."""

WORDS = {"budget_met": "budget met", "max_samples": "max samples", "exhausted": "all answered"}


def follow(run: Run, *, console: Console, check: Callable[[], None]) -> None:
    """Return when the run has ended. `check` is called at every look and may raise."""

    def shown(attempt: Attempt | None) -> Table:
        return table(run, attempt, wide=console.width >= WIDE)

    if console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            while show_until_ended(run, lambda attempt: live.update(shown(attempt), refresh=True)):
                check()
                time.sleep(POLL_S)
    else:
        last, told = 0.0, set[str]()
        while show_until_ended(run, lambda attempt: None):
            check()
            if time.monotonic() - last >= LINE_EVERY_S:
                last = time.monotonic()
                now = lines(run, newest(run))
                for line in now:
                    if line not in told:
                        console.print(line, highlight=False, markup=False, soft_wrap=True)
                told = set(now)
            time.sleep(POLL_S)
        console.print(shown(newest(run)))
    attempt = newest(run)
    console.print(f"Run {run.pk} {run.status}" + (f": {attempt.reason}" if attempt and attempt.reason else ""))


def show_until_ended(run: Run, show: Callable[[Attempt | None], None]) -> bool:
    """Read the run, show it; whether it still lives."""
    run.refresh_from_db()
    show(newest(run))
    return run.status in RunStatus.LIVE


def newest(run: Run) -> Attempt | None:
    return Attempt.objects.filter(run=run).order_by("-number").first()


def lines(run: Run, attempt: Attempt | None) -> list[str]:
    """For a log: `B3_math: 12/270 (0 err) 1.2 req/s avg_comp=180tok 2.2 k of 3.0 k`, or what is waited for."""
    if attempt is None:
        return [f"run {run.pk} {run.status}"]
    moving = [row for row in attempt.datasets.all() if row.state == DatasetState.RUNNING]
    if not moving:
        waits = f": {attempt.waiting_for}" if attempt.waiting_for else ""
        return [f"run {run.pk} attempt {attempt.number} {attempt.status}{waits}"]
    return [
        f"{row.dataset}: {row.done}/{row.total} ({row.errors} err) {row.requests_per_s:.1f} req/s "
        f"avg_comp={row.mean_completion:.0f}tok {tokens(row.tokens)} of {'all' if row.budget is None else tokens(row.budget)}"
        for row in moving
    ]


def table(run: Run, attempt: Attempt | None, *, wide: bool) -> Table:
    """One row a dataset, as the run's page has it; bars only where there is room for them."""
    title = f"Run {run.pk} {run.status}" if attempt is None else f"Run {run.pk}, attempt {attempt.number}, {attempt.status}"
    if attempt is not None and attempt.waiting_for and attempt.status in AttemptStatus.LIVE:
        title += f": {attempt.waiting_for}"
    found = Table(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    found.add_column("dataset", no_wrap=True)
    found.add_column("state", no_wrap=True)
    for name in ("tokens", "budget"):
        found.add_column(name, justify="right", no_wrap=True)
    if wide:
        found.add_column("", width=BAR_WIDTH)
    for name in ("answers", "err", "cut", "tok/s", "mean", "ETA"):
        found.add_column(name, justify="right", no_wrap=True)
    for row in [] if attempt is None else attempt.datasets.all():
        found.add_row(*cells(row, wide=wide))
    return found


def cells(row: DatasetProgress, *, wide: bool) -> tuple[str | ProgressBar, ...]:
    running = row.state == DatasetState.RUNNING
    skipped = row.state == DatasetState.SKIPPED
    state = f"{'skipped, ' if skipped else ''}{WORDS.get(row.reason, row.reason)}" if row.reason else row.state
    goal = row.budget or 0
    bar: tuple[str | ProgressBar, ...] = (ProgressBar(total=goal, completed=min(row.tokens, goal)) if goal else "",)
    return (
        row.dataset,
        state,
        tokens(row.tokens),
        "all" if row.budget is None else tokens(row.budget),
        *(bar if wide else ()),
        f"{row.done}/{row.total}",
        str(row.errors),
        str(row.truncated),
        f"{row.tokens_per_s:.0f}" if running else "",
        f"{row.mean_completion:.0f}" if row.done else "",
        duration(row.eta_s) if running and row.eta_s is not None else "",
    )
