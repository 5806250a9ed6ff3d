import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.errors import DiskFullError, FolderHeldError
from pipeline.responses.appending import AppendFile, FolderLock
from tests.support.disks import SmallDisk

HOLD = """
import sys
from pathlib import Path
from pipeline.responses.appending import FolderLock
lock = FolderLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def append_many(file: AppendFile, piece: bytes) -> None:
    for _ in range(100):
        file.append(piece)


def test_append_tells_where_a_piece_begins(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "f")
    assert [file.append(b"ab"), file.append(b"cde"), file.size] == [0, 2, 5]
    file.close()
    again = AppendFile(tmp_path / "f")
    assert again.append(b"f") == 5
    again.close()
    assert (tmp_path / "f").read_bytes() == b"abcdef"


def test_append_to_a_full_disk_leaves_whole_pieces(small_disk: SmallDisk) -> None:
    file = AppendFile(small_disk.path / "part.jsonl")
    piece = b"x" * 100_000 + b"\n"
    with pytest.raises(DiskFullError, match=r"disk full while writing part\.jsonl"):
        append_many(file, piece)
    file.close()
    written = (small_disk.path / "part.jsonl").read_bytes()
    assert len(written) == file.size
    assert written == piece * (len(written) // len(piece))
    assert len(written) > 0


def test_lock_names_the_process_that_holds_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FolderHeldError, match=rf"is being written by process {holder.pid} on "):
            FolderLock(tmp_path)
        holder.kill()
    FolderLock(tmp_path).release()
