"""One look at everything, as often as wanted; what was seen before is remembered."""

from collections.abc import Callable, Collection
from pathlib import Path

from tests.faults.checker import artifacts, copies, processes, statuses
from tests.faults.checker.answers import AnswerLedger
from tests.faults.checker.rows import Rows, read_rows


class Checker:
    def __init__(self, home: Path, database: str, *, known: Callable[[], Collection[int]]) -> None:
        """`database` is a DATABASE_URL; `known` gives the pids of the processes that were started by name."""
        self.answers = AnswerLedger(home)
        self._home, self._database, self._known = home, database, known
        self._sealed: set[int] = set()

    def look(self) -> list[str]:
        """What contradicts what; empty when all is well. What is still on its way is found too, and gone at the next look."""
        before = processes.processes_of(self._home)
        rows = read_rows(self._database, sealed=sorted(self._sealed))
        # A process that came or went while the rows were read proves nothing.
        alive = {pid: process for pid, process in processes.processes_of(self._home).items() if before.get(pid) == process}
        found = [*processes.contradictions(rows, alive, self._known()), *statuses.contradictions(rows)]
        for attempt in rows.attempts:
            if attempt["id"] not in self._sealed:
                wrong = list(copies.contradictions(rows, attempt))
                found += wrong
                if not wrong and attempt["status"] in statuses.TERMINAL:
                    self._sealed.add(attempt["id"])
        return [*found, *self.answers.look(rows), *artifacts.contradictions(rows, self._home)]

    def look_at_the_end(self) -> list[str]:
        """Everything once more from the beginning, when nothing works any more: all runs finished, nothing held or alive."""
        self._sealed.clear()
        rows = self.rows()
        left = [f"r{run['id']} is {run['status']}" for run in rows.runs if run["status"] != "finished"]
        left += [f"{lease['device']} is still leased" for lease in rows.leases]
        return left + self.look()

    def rows(self) -> Rows:
        return read_rows(self._database, sealed=sorted(self._sealed))
