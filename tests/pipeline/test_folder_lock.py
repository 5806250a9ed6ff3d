"""One writer a folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.errors import FolderHeldError
from pipeline.folder_lock import FolderLock, keeping_writers_out

HOLD = """
import sys
from pathlib import Path
from pipeline.folder_lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_lock_names_the_process_that_holds_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FolderHeldError, match=rf"is being written by process {holder.pid} on "):
            FolderLock(tmp_path)
        holder.kill()
    FolderLock(tmp_path).release()


def test_writers_are_kept_out_but_for_those_who_write_already(tmp_path: Path) -> None:
    for name in ("B1", "B2", "none"):
        (tmp_path / name).mkdir()
    writing = FolderLock(tmp_path / "B1")
    FolderLock(tmp_path / "B2").release()
    with keeping_writers_out(tmp_path) as busy:
        assert busy == {tmp_path / "B1"}
        with pytest.raises(FolderHeldError):
            FolderLock(tmp_path / "B2")
    FolderLock(tmp_path / "B2").release()
    writing.release()
    assert not (tmp_path / "none" / "lock").exists()
