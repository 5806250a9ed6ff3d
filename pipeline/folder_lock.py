"""Folders that one process writes to, and nobody else at the same time."""

import contextlib
import fcntl
import json
import os
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pipeline.errors import FolderHeldError

LOCK = "lock"
"""The file's name. It stays when its holder is gone."""


class FolderLock:
    """Held by one process at a time, and given back by the kernel when that process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        """Raises FolderHeldError that names the holder."""
        self._path = folder / LOCK
        self._file = self._path.open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise FolderHeldError(f"{folder} is being written by {_holder(self._path)}; only one process may") from error
        self._file.truncate(0)
        since = datetime.now(UTC).isoformat(timespec="seconds")
        json.dump({"pid": os.getpid(), "host": socket.gethostname(), "since": since}, self._file)
        self._file.flush()

    def release(self) -> None:
        self._file.close()


@contextlib.contextmanager
def keeping_writers_out(folder: Path) -> Iterator[set[Path]]:
    """Hold the lock of the folder and of each below it that has one; yields those that other processes hold."""
    with contextlib.ExitStack() as held:
        busy = set()
        for path in folder.rglob(LOCK):
            try:
                held.callback(FolderLock(path.parent).release)
            except FolderHeldError:
                busy.add(path.parent)
        yield busy


def _holder(path: Path) -> str:
    try:
        told = json.loads(path.read_text())
        return f"process {told['pid']} on {told['host']} since {told['since']}"
    except (ValueError, KeyError, TypeError):
        # The holder has the lock and has not written its name yet.
        return "another process"
