"""What the system stands on goes away for a while: broker, database, room on the disk, speed of the disk, the right time."""

import os
import sqlite3
import time
from pathlib import Path
from random import Random

from django.db import connection

from tests.faults.kinds import fault
from tests.faults.world import FaultWorld
from tests.support.postgres import Postgres
from tests.support.system import database_url


@fault("broker away")
def broker_away(world: FaultWorld, draw: Random) -> str:
    seconds = draw.uniform(5, 20)
    world.system.stop("valkey")
    time.sleep(seconds)
    world.system.start("valkey")
    return f"for {seconds:.0f} s"


@fault("database away")
def database_away(world: FaultWorld, draw: Random) -> str:
    """SQLite is locked by somebody else; PostgreSQL crashes and starts again."""
    seconds = draw.uniform(5, 25)
    if connection.vendor == "sqlite":
        other = sqlite3.connect(connection.settings_dict["NAME"], timeout=30, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        other.rollback()
        other.close()
        return f"locked for {seconds:.0f} s"
    port, folder = os.environ["EAGLE3_TEST_POSTGRES"].split(" ", 1)
    server = Postgres(Path(folder), int(port))
    connection.close()
    server.stop()
    time.sleep(seconds)
    server.start()
    return f"{database_url()} crashed, and was back after {seconds:.0f} s"


@fault("full disk")
def full_disk(world: FaultWorld, draw: Random) -> str:
    """Not one byte fits on one of the disks: that of answers, states and checkpoints, or that of events and logs."""
    name, seconds = draw.choice(sorted(world.disks) or [""]), draw.uniform(3, 10)
    if not name:
        return "no disk of our own could be mounted"
    ballast = world.disks[name] / "ballast"
    with ballast.open("wb", buffering=0) as file:
        _fill(file.fileno())
    time.sleep(seconds)
    ballast.unlink()
    return f"{name} for {seconds:.0f} s"


@fault("slow disk")
def slow_disk(world: FaultWorld, draw: Random) -> str:
    """Each write and sync of a stage or a supervisor takes longer (tests/faults/start_hook); SQLite's own are not slowed."""
    delay, seconds = draw.uniform(0.05, 0.5), draw.uniform(5, 15)
    world.write_delay.write_text(f"{delay:.3f}")
    time.sleep(seconds)
    world.write_delay.write_text("0")
    return f"{delay * 1000:.0f} ms a write for {seconds:.0f} s"


@fault("clock jump")
def clock_jump(world: FaultWorld, draw: Random) -> str:
    """The wall clock of every process of the system jumps, and jumps back; no monotonic clock does."""
    jump, seconds = draw.choice((-7200, -90, -5, 5, 90, 7200)), draw.uniform(5, 15)
    if not world.clock.environment:
        return "no C compiler is installed"
    world.clock.jump(jump)
    time.sleep(seconds)
    world.clock.jump(0)
    return f"by {jump:+d} s for {seconds:.0f} s"


def _fill(descriptor: int) -> None:
    """Write until the disk takes no more: large pieces first, single bytes last."""
    for size in (2**20, 2**12, 1):
        try:
            while True:
                os.write(descriptor, bytes(size))
        except OSError:
            continue
