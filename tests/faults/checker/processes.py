"""Who lives, as /proc says, and whether the database says the same."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.checker.rows import Row, Rows

LIVE = ("starting", "running", "stopping")
PROC = Path("/proc")


@dataclass(frozen=True, kw_only=True)
class Process:
    pid: int
    parent: int
    started: float
    """Clock ticks since boot."""
    command: str
    attempt: str
    """Folder of the attempt that it says it belongs to; empty for none."""


def processes_of(home: Path) -> dict[int, Process]:
    """Living processes whose environment names this home; zombies left out."""
    found = (_read(folder, f"EAGLE3_HOME={home}") for folder in PROC.glob("[0-9]*"))
    return {process.pid: process for process in found if process is not None}


def contradictions(rows: Rows, alive: dict[int, Process], known: Collection[int]) -> Iterator[str]:
    """`known`: pids of the processes that somebody started by name (web, worker …)."""
    live = [row for row in rows.attempts if row["status"] in LIVE]
    boot_id = (PROC / "sys/kernel/random/boot_id").read_text().strip()
    for row in live:
        yield from _missing(row, alive, boot_id)
    yield from _orphans(live, alive, known)


def _missing(row: Row, alive: dict[int, Process], boot_id: str) -> Iterator[str]:
    name = f"attempt {row['id']} (r{row['run_id']} attempt {row['number']}) is {row['status']}"
    if row["boot_id"] != boot_id:
        yield f"{name} in another life of this host"
    pairs = {"supervisor": ("supervisor_pid", "supervisor_started")}
    if row["status"] == "running":
        pairs["stage"] = ("pid", "pid_started")
    for what, (pid, started) in pairs.items():
        process = alive.get(row[pid] or 0)
        if process is None or process.started != row[started]:
            yield f"{name}, and no {what} lives with pid {row[pid]} and start time {row[started]}"


def _orphans(live: list[Row], alive: dict[int, Process], known: Collection[int]) -> Iterator[str]:
    supervisors = {row["supervisor_pid"]: row for row in live}
    for process in alive.values():
        if process.attempt:
            owner = supervisors.get(_root(process, alive))
            if owner is None or owner["folder"] != process.attempt:
                yield f"process {process.pid} works for {process.attempt} and has no living supervisor: {process.command}"
        elif process.pid not in supervisors and process.pid not in known and not _descends(process, alive, known):
            yield f"process {process.pid} belongs to nobody: {process.command}"


def _root(process: Process, alive: dict[int, Process]) -> int:
    """The first forebear that belongs to no attempt: its supervisor, where it has one."""
    while process.attempt and process.parent in alive:
        process = alive[process.parent]
    return 0 if process.attempt else process.pid


def _descends(process: Process, alive: dict[int, Process], known: Collection[int]) -> bool:
    """Whether one of the known processes started it for a moment, as the worker starts git."""
    if " supervise " in process.command:
        return False
    while process.parent in alive and process.pid not in known:
        process = alive[process.parent]
    return process.pid in known


def _read(folder: Path, mark: str) -> Process | None:
    try:
        environment = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
        if mark not in environment:
            return None
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    if fields[0] in "ZX":
        return None
    attempts = [value.partition("=")[2] for value in environment if value.startswith("EAGLE3_ATTEMPT=")]
    return Process(
        pid=int(folder.name),
        parent=int(fields[1]),
        started=float(fields[19]),
        command=command,
        attempt=attempts[0] if attempts else "",
    )
