"""A fault as the driver draws it: a name, and a function that strikes, waits, mends, and says what it did."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.faults.world import FaultWorld

Strike = Callable[[FaultWorld, Random], str]


@dataclass(frozen=True)
class Fault:
    name: str
    strike: Strike
    """What is struck and for how long comes from the Random alone, so that a seed draws the same faults again."""


FAULTS: dict[str, Fault] = {}
"""By name, in the order in which they are written down."""


def fault(name: str) -> Callable[[Strike], Strike]:
    def register(strike: Strike) -> Strike:
        FAULTS[name] = Fault(name, strike)
        return strike

    return register
