"""Files that a crash of the machine or a bad disk leaves behind. Who writes them is killed first, as it would be then."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random

from eagle3web.models import Attempt
from tests.faults.kinds import fault
from tests.faults.world import FaultWorld
from tests.support.servers import wait_until

GARBAGE = b"\0\xff{garbage"


def crash(world: FaultWorld, stage: str, draw: Random) -> Attempt | None:
    """Kill the stage of a living attempt; the attempt, once it has ended. None when there is none."""
    place = draw.random()
    live = world.wait_live(stage)
    if not live:
        return None
    attempt = live[int(place * len(live))]
    if attempt.pid not in world.base.of_attempts():
        return None
    os.kill(attempt.pid, signal.SIGKILL)

    def has_ended() -> bool:
        attempt.refresh_from_db()
        return attempt.ended_at is not None

    wait_until(has_ended, f"attempt {attempt.pk} has ended", 60)
    return attempt


def folder_of(world: FaultWorld, attempt: Attempt, kind: str) -> Path:
    return world.system.home / "projects" / attempt.run.project.slug / kind


@fault("torn answers")
def torn_answers(world: FaultWorld, draw: Random) -> str:
    """A part of answers ends in the middle of a line that nobody was told of."""
    attempt = crash(world, "generate", draw)
    parts = sorted(folder_of(world, attempt, "responses").glob("*/part-*.jsonl")) if attempt else []
    if not parts:
        return "no answers to damage"
    with parts[-1].open("ab") as file:
        file.write(b'{"key":"half a li')
    return f"{parts[-1]}: half a line at its end"


@fault("lost answer")
def lost_answer(world: FaultWorld, draw: Random) -> str:
    """The disk loses the end of the last line of a part, which had been told of: that prompt is asked again."""
    attempt = crash(world, "generate", draw)
    parts = [path for path in world.parts() if attempt and attempt.run.project.slug in path.parts]
    if not parts:
        return "no answers to damage"
    path = parts[-1]
    last = path.read_bytes().splitlines(keepends=True)[-1]
    if not last.endswith(b"\n"):
        return "the last line is torn already"
    os.truncate(path, path.stat().st_size - len(last) // 2)
    world.checker.answers.forget(path.parts[-4], path.parts[-2], last)
    return f"{path}: the last line was cut in half"


def overwrite(kind: str, pattern: str, stage: str) -> Callable[[FaultWorld, Random], str]:
    """Garbage in place of a file of a crashed run; of several one by chance."""

    def strike(world: FaultWorld, draw: Random) -> str:
        attempt, place, cut = crash(world, stage, draw), draw.random(), draw.random() < 0.5
        folder = folder_of(world, attempt, kind) if attempt else None
        if folder is not None and kind != "responses":
            folder /= str(attempt.run_id)  # type: ignore[union-attr]
        found = sorted(folder.glob(pattern)) if folder is not None else []
        if not found:
            return "nothing there to damage"
        path = found[int(place * len(found))]
        data = path.read_bytes()
        # Cut short, or of the same size with something else in the middle.
        middle = len(data) // 2
        path.write_bytes(data[:middle] if cut else data[:middle] + GARBAGE + data[middle + len(GARBAGE) :])
        return f"{path}: {'cut in half' if cut else 'garbage in the middle'}"

    return strike


for name, kind, pattern, stage in (
    ("damaged index", "responses", "*/index.bin", "generate"),
    ("damaged failures", "responses", "*/errors.jsonl", "generate"),
    ("damaged manifest", "responses", "*/manifest.json", "generate"),
    ("damaged shard", "hidden", "shard-*.safetensors", "extract"),
    ("damaged shard index", "hidden", "shard-*.json", "extract"),
    ("damaged layout", "hidden", "layout.json", "extract"),
    ("damaged weights", "checkpoints", "step-*/model.safetensors", "train"),
    ("damaged training state", "checkpoints", "step-*/training/state.pt", "train"),
    ("damaged checkpoint manifest", "checkpoints", "step-*/manifest.json", "train"),
):
    fault(name)(overwrite(kind, pattern, stage))


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
