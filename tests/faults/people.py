"""What people do to runs at the worst moment. It is no fault, and must do no harm."""

import time
from random import Random

from eagle3web.models import Attempt, Project
from tests.faults.kinds import fault
from tests.faults.world import FaultWorld


def one_of(world: FaultWorld, draw: Random) -> Attempt | None:
    place = draw.random()
    live = world.wait_live()
    return live[int(place * len(live))] if live else None


@fault("stop and resume")
def stop_and_resume(world: FaultWorld, draw: Random) -> str:
    seconds, attempt = draw.uniform(0, 5), one_of(world, draw)
    if attempt is None:
        return "nothing runs"
    world.call("POST", f"/runs/{attempt.run_id}/stop")
    time.sleep(seconds)
    return f"r{attempt.run_id}, to be resumed"


@fault("pause")
def pause(world: FaultWorld, draw: Random) -> str:
    seconds, attempt = draw.uniform(1, 8), one_of(world, draw)
    if attempt is None:
        return "nothing runs"
    world.call("POST", f"/runs/{attempt.run_id}/pause")
    time.sleep(seconds)
    world.call("POST", f"/runs/{attempt.run_id}/unpause")
    return f"r{attempt.run_id} for {seconds:.1f} s"


@fault("raise budgets")
def raise_budgets(world: FaultWorld, _draw: Random) -> str:
    for project in Project.objects.order_by("id"):
        world.raise_budgets(project)
    return "of all projects"


@fault("twice")
def twice(world: FaultWorld, draw: Random) -> str:
    """Two people press the same button: stop, stop, resume, resume."""
    attempt = one_of(world, draw)
    if attempt is None:
        return "nothing runs"
    for verb in ("stop", "stop", "resume", "resume", "concurrency"):
        world.call("POST", f"/runs/{attempt.run_id}/{verb}", {"n": 4} if verb == "concurrency" else None)
    return f"r{attempt.run_id}"
