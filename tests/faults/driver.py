"""Draws faults by a seed, strikes, and lets the checker look; at the end every run must finish."""

import time
from collections.abc import Iterator
from random import Random

from eagle3web.enums import RunStatus
from eagle3web.models import Run
from tests.faults import damage, killing, outages, people, trouble
from tests.faults.kinds import FAULTS, Fault
from tests.faults.world import FaultWorld

KINDS = (killing, outages, damage, trouble, people)
"""Modules that register faults."""
SETTLE_S = 120.0
"""After a fault is mended, until nothing contradicts anything. A machine with two cores is slow to start processes."""
LOOK_S = 2.0
FINISH_S = 420.0
"""After the last fault, until every run has finished."""
MOST_ATTEMPTS = 15
"""Resumed so often after the last fault, a run that does not finish never will."""


class ContradictionError(Exception):
    """What the checker found, and did not go away."""


class Driver:
    def __init__(self, world: FaultWorld, seed: int) -> None:
        self._world = world
        self._seed = seed
        self.trace: list[str] = []
        """What was done, as sentences."""

    def run(self, *, minutes: float, only: str = "") -> None:
        """Faults for so long, then the end. `only` takes the faults whose name begins so. Raises ContradictionError."""
        self._world.begin()
        self._world.keep_busy()
        started = time.monotonic()
        for number, fault in enumerate(faults(self._seed, only)):
            now = time.monotonic() - started
            if now >= minutes * 60:
                break
            draw = Random(f"{self._seed}/{number}")
            time.sleep(draw.uniform(0, 6))
            self._tell(f"{now:6.0f} s  {fault.name}: ", fault.strike(self._world, draw))
            self._world.keep_busy()
            self._settle()
        self._finish()

    def _settle(self) -> None:
        deadline = time.monotonic() + SETTLE_S
        while found := self._world.checker.look():
            if time.monotonic() > deadline:
                raise ContradictionError("\n".join(found))
            time.sleep(LOOK_S)

    def _finish(self) -> None:
        """Resume what ended early until all is finished, then look at everything from the beginning."""
        before = {run.pk: run.attempts.count() for run in Run.objects.all()}
        deadline = time.monotonic() + FINISH_S
        while unfinished := list(Run.objects.exclude(status=RunStatus.FINISHED).order_by("id")):
            for run in unfinished:
                tried = run.attempts.count() - before[run.pk]
                last = run.attempts.last()
                if time.monotonic() > deadline or tried > MOST_ATTEMPTS:
                    raise ContradictionError(f"{run} is {run.status} after {tried} more attempts: {last and last.reason}")
            self._world.resume_all()
            time.sleep(LOOK_S)
        self._tell("all runs are finished: ", f"{sum(before.values())} attempts in {len(before)} runs before the last resumes")
        deadline = time.monotonic() + SETTLE_S
        while found := self._world.checker.look_at_the_end():
            if time.monotonic() > deadline:
                raise ContradictionError("\n".join(found))
            time.sleep(LOOK_S)

    def _tell(self, what: str, words: str) -> None:
        self.trace.append(what + words)
        print(self.trace[-1], flush=True)


def faults(seed: int, only: str = "") -> Iterator[Fault]:
    """All faults in an order that hangs on the seed, then all again in another one, for ever."""
    draw = Random(seed)
    deck = [fault for fault in FAULTS.values() if fault.name.startswith(only)]
    while True:
        draw.shuffle(deck)
        yield from deck
