"""Files that one process appends to: by whole pieces, and nobody else at the same time."""

import fcntl
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

from pipeline.artifacts import naming_full_disks
from pipeline.errors import FolderHeldError


class AppendFile:
    """Each piece is in the file entirely, or not at all. Pieces reach the kernel before `append` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.size = os.fstat(self._descriptor).st_size

    def append(self, piece: bytes) -> int:
        """Write a piece and return where it begins. Raises DiskFullError; the file is then as it was before."""
        with naming_full_disks(self.path.name, self.path.parent):
            try:
                view = memoryview(piece)
                while view:
                    view = view[os.write(self._descriptor, view) :]
            except OSError:
                os.ftruncate(self._descriptor, self.size)
                raise
        begin, self.size = self.size, self.size + len(piece)
        return begin

    def cut(self, size: int) -> None:
        """Drop everything after the first `size` bytes."""
        os.ftruncate(self._descriptor, size)
        self.size = size

    def close(self) -> None:
        os.close(self._descriptor)


class FolderLock:
    """Held by one process at a time, and given back by the kernel when that process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        """Raises FolderHeldError that names the holder."""
        self._path = folder / "lock"
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


def _holder(path: Path) -> str:
    try:
        told = json.loads(path.read_text())
        return f"process {told['pid']} on {told['host']} since {told['since']}"
    except (ValueError, KeyError, TypeError):
        # The holder has the lock and has not written its name yet.
        return "another process"
