"""Files that a crash of the machine or a bad disk leaves behind. Who writes them is killed first, as it would be then."""

import os
import signal
from functools import partial
from pathlib import Path
from random import Random

from eagle3web.models import Attempt
from tests.faults.kinds import fault
from tests.faults.world import FaultWorld, came_in_time
from tests.support.servers import wait_until

GARBAGE = b"\0\xff{garbage"
PARTS = "responses/*/part-*.jsonl"
CATCH_S = 25.0


def crash(world: FaultWorld, stage: str, pattern: str, draw: Random) -> list[Path]:
    """Kill a stage that has written files like these, below its project's folder; they, once its attempt has ended.

    Writing is slowed meanwhile, or small runs would be done before they are caught. Empty when none came in time.
    """
    place = draw.random()
    caught: list[tuple[Attempt, list[Path]]] = []

    def has_come() -> bool:
        for attempt in world.live(stage):
            folder = world.system.home / "projects" / attempt.run.project.slug
            files = sorted(path for path in folder.glob(pattern.format(run=attempt.run_id)) if path.stat().st_size)
            if files and attempt.pid in world.base.of_attempts():
                caught.append((attempt, files))
        return bool(caught)

    world.write_delay.write_text("0.2")
    try:
        if not came_in_time(has_come, "a stage has written something", CATCH_S):
            return []
        attempt, files = caught[int(place * len(caught))]
        os.kill(attempt.pid or 0, signal.SIGKILL)
    finally:
        world.write_delay.write_text("0")
    wait_until(lambda: Attempt.objects.get(pk=attempt.pk).ended_at is not None, f"attempt {attempt.pk} has ended", 60)
    return [path for path in files if path.exists()]


@fault("torn answers")
def torn_answers(world: FaultWorld, draw: Random) -> str:
    """A part of answers ends in the middle of a line that nobody was told of."""
    parts = crash(world, "generate", PARTS, draw)
    if not parts:
        return "no answers to damage"
    with parts[-1].open("ab") as file:
        file.write(b'{"key":"half a li')
    return f"{parts[-1]}: half a line at its end"


@fault("lost answer")
def lost_answer(world: FaultWorld, draw: Random) -> str:
    """The disk loses the end of the last line of a part, which had been told of: that prompt is asked again."""
    parts = crash(world, "generate", PARTS, draw)
    if not parts:
        return "no answers to damage"
    path = parts[-1]
    last = path.read_bytes().splitlines(keepends=True)[-1]
    if not last.endswith(b"\n"):
        return "the last line is torn already"
    os.truncate(path, path.stat().st_size - len(last) // 2)
    world.checker.answers.forget(path.parts[-4], path.parts[-2], last)
    return f"{path}: the last line was cut in half"


def overwrite(stage: str, pattern: str, world: FaultWorld, draw: Random) -> str:
    """Garbage in place of a file of a crashed run; of several one by chance."""
    found, place, cut = crash(world, stage, pattern, draw), draw.random(), draw.random() < 0.5
    if not found:
        return "nothing there to damage"
    path = found[int(place * len(found))]
    data = path.read_bytes()
    # Cut short, or of the same size with something else in the middle; which nobody would see in states, whose hashes are not
    # compared again.
    cut |= path.name.startswith("shard-") and path.suffix == ".safetensors"
    middle = len(data) // 2
    path.write_bytes(data[:middle] if cut else data[:middle] + GARBAGE + data[middle + len(GARBAGE) :])
    return f"{path}: {'cut in half' if cut else 'garbage in the middle'}"


for name, stage, pattern in (
    ("damaged index", "generate", "responses/*/index.bin"),
    ("damaged failures", "generate", "responses/*/errors.jsonl"),
    ("damaged manifest", "generate", "responses/*/manifest.json"),
    ("damaged shard", "extract", "hidden/{run}/shard-*.safetensors"),
    ("damaged shard index", "extract", "hidden/{run}/shard-*.json"),
    ("damaged layout", "extract", "hidden/{run}/layout.json"),
    ("damaged weights", "train", "checkpoints/{run}/step-*/model.safetensors"),
    ("damaged training state", "train", "checkpoints/{run}/step-*/training/state.pt"),
    ("damaged checkpoint manifest", "train", "checkpoints/{run}/step-*/manifest.json"),
):
    fault(name)(partial(overwrite, stage, pattern))


@fault("damaged tick")
def damaged_tick(world: FaultWorld, draw: Random) -> str:
    """The file by which a loop says that it turns, while it turns."""
    garbage = draw.choice((b"", GARBAGE, b"[]", b'{"t": "yesterday", "waiting_for": 7}'))
    live = world.wait_live()
    for attempt in live:
        (Path(attempt.folder) / "heartbeat").write_bytes(garbage)
    return f"{garbage!r} for {len(live)} attempts"


@fault("damaged broker file")
def damaged_broker_file(world: FaultWorld, draw: Random) -> str:
    """The broker's file of messages ends in the middle of one."""
    world.system.kill("valkey")
    found = sorted((world.system.home / "valkey").rglob("*.aof"))
    for path in found[-1:]:
        os.truncate(path, max(0, path.stat().st_size - draw.randrange(1, 40)))
    world.system.start("valkey")
    return ", ".join(str(path) for path in found[-1:])


@fault("damaged schedule")
def damaged_schedule(world: FaultWorld, draw: Random) -> str:
    """Beat's own file of when it last sent what."""
    garbage = draw.choice((b"", GARBAGE))
    world.system.kill("beat")
    found = sorted(world.system.home.glob("celerybeat-schedule*"))
    for path in found:
        path.write_bytes(garbage)
    world.system.start("beat")
    return f"{garbage!r} in {len(found)} files"
