"""A generation in the terminal: one row a dataset."""

from rich.progress_bar import ProgressBar
from rich.table import Table

from eagle3web.enums import DatasetState
from eagle3web.formats import duration, tokens
from eagle3web.models import Attempt, DatasetProgress

BAR_WIDTH = 24
WORDS = {"budget_met": "budget met", "max_samples": "max samples", "exhausted": "all answered"}


def lines(attempt: Attempt) -> list[str]:
    """For a log: `B3_math: 12/270 (0 err) 1.2 req/s avg_comp=180tok 2.2 k of 3.0 k`; nothing while nothing moves."""
    return [
        f"{row.dataset}: {row.done}/{row.total} ({row.errors} err) {row.requests_per_s:.1f} req/s "
        f"avg_comp={row.mean_completion:.0f}tok {tokens(row.tokens)} of {'all' if row.budget is None else tokens(row.budget)}"
        for row in attempt.datasets.all()
        if row.state == DatasetState.RUNNING
    ]


def table(title: str, attempt: Attempt | None, *, wide: bool) -> Table:
    """One row a dataset, as the run's page has it; bars only where there is room for them."""
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
