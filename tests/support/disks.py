"""A disk that fills up."""

import contextlib
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOM = 2**19


@dataclass(frozen=True)
class SmallDisk:
    """A folder with room for half a megabyte."""

    path: Path
    free: Callable[[], object]
    """Make as much room again."""


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """A tmpfs at `folder` where we may mount one, else a limit on the size of files, for this process and its children."""
    folder.mkdir()
    if os.geteuid() == 0 and _run("mount", "-t", "tmpfs", "-o", f"size={2 * ROOM}", "tmpfs", str(folder)):
        ballast = folder / "ballast"
        ballast.write_bytes(bytes(ROOM))
        try:
            yield SmallDisk(folder, ballast.unlink)
        finally:
            _run("umount", "--lazy", str(folder))
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    try:
        yield SmallDisk(folder, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def _run(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
