"""An engine that lives and does not do what it should."""

import time
from collections.abc import Mapping
from functools import partial
from random import Random
from typing import Any

from tests.faults.kinds import fault
from tests.faults.world import FaultWorld

TROUBLES: Mapping[str, Mapping[str, Any]] = {
    "engine refuses": {"refuse": True},
    "engine hangs": {"hang": True},
    "engine cuts connections": {"cut_every": 3},
    "engine aborts": {"abort_every": 4},
    "engine is full": {"max_in_flight": 2},
    "engine takes no prompt with a 7": {"bad_token": 25},
}
WELL: Mapping[str, Any] = {
    "refuse": False, "hang": False, "cut_every": 0, "abort_every": 0, "max_in_flight": 0, "bad_token": -1
}  # fmt: skip


def misbehave(trouble: Mapping[str, Any], world: FaultWorld, draw: Random) -> str:
    seconds = draw.uniform(4, 15)
    world.behave(**trouble)
    time.sleep(seconds)
    world.behave(**WELL)
    return f"for {seconds:.0f} s"


for name, trouble in TROUBLES.items():
    fault(name)(partial(misbehave, trouble))
