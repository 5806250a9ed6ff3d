"""Follows runs in the terminal: a live table on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.live import Live
from rich.table import Table

from eagle3web.domain import lineage
from eagle3web.enums import AttemptStatus, RunStatus, Stage
from eagle3web.models import Attempt, Run
from eagle3web.system import datasets_view, stages_view

POLL_S = 0.5
LINE_EVERY_S = 10.0
"""Without a terminal, one line for each thing that moved in this many seconds."""
WIDE = 110
"""Columns of a terminal that has room for the bars."""


def follow_chain(runs: Sequence[Run], *, console: Console, check: Callable[[], None]) -> bool:
    """Follow runs one after the other; whether all of them finished. The first one that does not ends it: the rest waits."""
    for number, run in enumerate(runs, start=1):
        console.print(f"\n[bold]Stage {number} of {len(runs)}: {run.stage}[/bold] (run {run.pk})", highlight=False)
        follow(run, console=console, check=check)
        if run.status != RunStatus.FINISHED:
            return False
    return True


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
    """For a log: what moved, or what is waited for."""
    found: list[str] = []
    if attempt is not None and run.status != RunStatus.QUEUED:
        found = datasets_view.lines(attempt) if run.stage == Stage.GENERATE else stages_view.lines(run.stage, attempt)
    return found or [_status(run, attempt, f"run {run.pk}", f"run {run.pk} attempt {attempt.number}" if attempt else "")]


def table(run: Run, attempt: Attempt | None, *, wide: bool) -> Table:
    """The run as its page has it: a row for each dataset, or what its stage said last."""
    title = _status(run, attempt, f"Run {run.pk}", f"Run {run.pk}, attempt {attempt.number}," if attempt else "")
    if run.stage == Stage.GENERATE:
        return datasets_view.table(title, attempt, wide=wide)
    return stages_view.table(title, run.stage, attempt)


def _status(run: Run, attempt: Attempt | None, queued: str, named: str) -> str:
    """`run 3 attempt 1 running: no engine answers`."""
    if attempt is None or run.status == RunStatus.QUEUED:
        waits = lineage.held_words(run) if run.status == RunStatus.QUEUED else ""
        return f"{queued} {run.status}" + (f": {waits}" if waits else "")
    waits = attempt.waiting_for if attempt.status in AttemptStatus.LIVE else ""
    return f"{named} {attempt.status}" + (f": {waits}" if waits else "")
