from pathlib import Path

import pytest

from pipeline.errors import DiskFullError
from pipeline.responses.appending import AppendFile
from tests.support.disks import SmallDisk


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
