"""Files that one process appends to, by whole pieces."""

import os
from pathlib import Path

from pipeline.artifacts import naming_full_disks


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
