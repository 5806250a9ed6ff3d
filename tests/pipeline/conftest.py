"""A disk that fills up."""

import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

SMALL = 2**20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder that holds about a megabyte: a tmpfs of its own where we may mount one, else a limit on the size of files."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() == 0 and _run("mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(folder)):
        yield folder
        _run("umount", "--lazy", str(folder))
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, before[1]))
    yield folder
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def _run(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
