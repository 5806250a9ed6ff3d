"""One run as lists show it: its state and clocks, what it has made, how long it took."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from eagle3web.domain.waits import waits
from eagle3web.enums import RunStatus, Stage
from eagle3web.models import Attempt, Run
from eagle3web.pages.clocks import Clocks, clocks
from eagle3web.pages.datasets_of_run import Totals, totals
from eagle3web.pages.stages.standing import standing_line
from eagle3web.queries import run_list


@dataclass(frozen=True)
class RunRow:
    """One run as the table shows it."""

    run: Run
    attempt: Attempt | None
    clocks: Clocks | None
    totals: Totals | None
    worked_s: float | None = None
    """All attempts that have ended, together; None before the first."""
    waits: str = ""
    """What a queued run waits for."""
    starred: bool = False
    """By the person who looks; in rows that come by socket it is unknown, and the browser keeps what it has."""

    @property
    def state(self) -> str:
        return self.clocks.state if self.clocks else self.run.status

    @property
    def words(self) -> str:
        """In the pill: why it ended, where that is short; else the state."""
        said = self.clocks.words if self.clocks and not self.clocks.live else ""
        return said if 0 < len(said) <= 28 and self.state != "finished" else self.state

    @property
    def hint(self) -> str:
        return self.clocks.words if self.clocks else self.waits

    @property
    def note(self) -> str:
        """How its notes begin."""
        return str(getattr(self.run, "note", ""))

    @property
    def result(self) -> str:
        """What it has made, as its stage counts; empty before the first attempt."""
        if self.attempt is None or self.totals is None:
            return ""
        if self.run.stage == Stage.GENERATE:
            return self.totals.amount
        standing = standing_line(self.attempt, self.run.stage, forecast=False)
        return standing.words if standing else "–"

    @property
    def order(self) -> str:
        return f"{self.run.pk:012d}"


def describe(runs: Iterable[Run], now: datetime, *, starred: Collection[int] = frozenset()) -> list[RunRow]:
    """Three queries for any number of runs, and five more where some are queued."""
    found = list(runs)
    last = run_list.last_attempts(run.pk for run in found)
    worked = run_list.seconds_worked(run.pk for run in found)
    waiting = waits(found)

    def row(run: Run) -> RunRow:
        attempt, worked_s = last.get(run.pk), worked.get(run.pk)
        marked = run.pk in starred
        if attempt is None or run.status == RunStatus.QUEUED:
            words = waiting.get(run.pk) or f"waits for {run.host or 'a worker'}"
            so_far = totals(list(attempt.datasets.all()), forecast=False) if attempt else None
            words = words if run.status == RunStatus.QUEUED else ""
            return RunRow(run, attempt, None, so_far, worked_s, words, marked)
        judged = clocks(attempt, now)
        made = totals(list(attempt.datasets.all()), forecast=not judged.quiet)
        return RunRow(run, attempt, judged, made, worked_s, "", marked)

    return [row(run) for run in found]
