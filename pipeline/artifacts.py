"""Where things lie on disk, and how a file becomes visible: all at once or not at all.

HOME/datasets/SLUG/REVISION/       prompts.jsonl manifest.json report.json
HOME/projects/SLUG/responses/DATASET/   part-NNNNN.jsonl manifest.json
HOME/runs/ID/attempts/N/           config.json events.jsonl log.txt heartbeat supervisor.txt
"""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.errors import DataError, DiskFullError


@dataclass(frozen=True)
class AttemptFolder:
    """The files of one attempt: one process writes here, and no other ever does."""

    path: Path

    @property
    def config(self) -> Path:
        return self.path / "config.json"

    @property
    def events(self) -> Path:
        return self.path / "events.jsonl"

    @property
    def log(self) -> Path:
        return self.path / "log.txt"

    @property
    def heartbeat(self) -> Path:
        """The stage's tick: JSON `{"t": …, "waiting_for": …}`, rewritten every second by the loop that does the work."""
        return self.path / "heartbeat"

    @property
    def published(self) -> Path:
        """There once other hosts can read what the attempt made; only where EAGLE3_ARTIFACTS names a store."""
        return self.path / "published"

    @property
    def supervisor_log(self) -> Path:
        return self.path / "supervisor.txt"


@dataclass(frozen=True)
class Home:
    """$EAGLE3_HOME."""

    path: Path

    def dataset(self, slug: str, revision: str) -> Path:
        return self.path / "datasets" / slug / revision

    def responses(self, project: str) -> Path:
        return self.path / "projects" / project / "responses"

    def hidden(self, project: str, run_id: int) -> Path:
        return self.path / "projects" / project / "hidden" / str(run_id)

    def captured(self, project: str) -> Path:
        """Hidden states that engines keep while they generate."""
        return self.path / "projects" / project / "hidden" / "captured"

    def states(self, project: str, run_id: int) -> Path:
        """Where the server of a serve run leaves hidden states for a moment."""
        return self.path / "projects" / project / "states" / str(run_id)

    def checkpoints(self, project: str, run_id: int) -> Path:
        return self.path / "projects" / project / "checkpoints" / str(run_id)

    def benchmarks(self, project: str, run_id: int) -> Path:
        return self.path / "projects" / project / "benchmarks" / str(run_id)

    def attempt(self, run_id: int, number: int) -> AttemptFolder:
        return AttemptFolder(self.path / "runs" / str(run_id) / "attempts" / str(number))


@contextlib.contextmanager
def naming_full_disks(what: str, folder: Path) -> Iterator[None]:
    """Turn the kernel's ENOSPC, EDQUOT and EFBIG into a DiskFullError that says what was being written and what is free."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        free = shutil.disk_usage(folder).free
        raise DiskFullError(f"disk full while writing {what}: {free / 1e6:.1f} MB free in {folder}") from error


def atomic_write(path: Path, data: bytes) -> None:
    """Write beside `path` under a temporary name, sync, rename: a reader sees the old file or the new one."""
    with naming_full_disks(path.name, path.parent):
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def write_json(path: Path, value: Any) -> None:  # noqa: ANN401  (any JSON value)
    atomic_write(path, json.dumps(value, indent=1, sort_keys=True, allow_nan=False).encode() + b"\n")


def read_json(path: Path) -> Any:  # noqa: ANN401  (any JSON value)
    return json.loads(path.read_bytes())


def read_record(path: Path) -> dict[str, Any]:
    """A JSON object that we once wrote. Raises DataError that names the file when a crash or a disk left something else."""
    try:
        found = read_json(path)
    except ValueError as error:
        raise DataError(f"{path}: damaged, no JSON any more ({error})") from error
    if not isinstance(found, dict):
        raise DataError(f"{path}: damaged, not a JSON object")
    return found


def sha256_file(path: Path) -> str:
    """Content hash, hexadecimal, read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def config_hash(config: Any) -> str:  # noqa: ANN401  (any JSON value)
    """Eight hexadecimal digits that name a config: equal values, equal name, whatever the order of keys."""
    canonical = json.dumps(config, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()[:8]


def write_tick(folder: AttemptFolder, *, waiting_for: str = "") -> None:
    """Say that the loop turns. Rename without sync: a lost tick costs a second, a sync on a slow disk would cost more."""
    body = {"t": datetime.now(UTC).isoformat(), "waiting_for": waiting_for}
    temporary = folder.path / ".heartbeat"
    temporary.write_text(json.dumps(body))
    temporary.replace(folder.heartbeat)
