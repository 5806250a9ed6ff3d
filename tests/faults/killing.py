"""kill -9 and SIGSTOP, of everything that has a process."""

import os
import signal
import time
from contextlib import suppress
from functools import partial
from random import Random

from tests.faults.kinds import fault
from tests.faults.world import SYSTEM, FaultWorld

TARGETS = ("stage", "supervisor", *SYSTEM, "engine")


def pid_of(world: FaultWorld, target: str, draw: Random) -> int | None:
    """The process to strike; of several stages or supervisors one by chance."""
    if target == "engine":
        return world.base.engine.pid if world.base.engine is not None else None
    if target in SYSTEM:
        return world.system.processes[target].pid
    place = draw.random()
    live = world.wait_live()
    if not live:
        return None
    chosen = live[int(place * len(live))]
    pid = chosen.pid if target == "stage" else chosen.supervisor_pid
    return pid if pid in world.base.of_attempts() else None


def kill(target: str, world: FaultWorld, draw: Random) -> str:
    """kill -9, and start again what people would start again, a little later."""
    away = draw.uniform(0, 6)
    pid = pid_of(world, target, draw)
    if pid is None:
        return "nothing lives to be killed"
    if target == "engine":
        world.base.kill_engine()
        time.sleep(away)
        world.base.start_engine()
    elif target in SYSTEM:
        world.system.kill(target)
        time.sleep(away)
        world.system.start(target)
    else:
        os.kill(pid, signal.SIGKILL)
        return f"killed pid {pid}"
    return f"killed pid {pid}; started again after {away:.1f} s"


def freeze(target: str, world: FaultWorld, draw: Random) -> str:
    """SIGSTOP, and SIGCONT some seconds later."""
    seconds = draw.uniform(2, 15)
    pid = pid_of(world, target, draw)
    if pid is None:
        return "nothing lives to be stopped"
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    return f"stopped pid {pid} for {seconds:.1f} s"


for target in TARGETS:
    fault(f"kill {target}")(partial(kill, target))
    fault(f"freeze {target}")(partial(freeze, target))
