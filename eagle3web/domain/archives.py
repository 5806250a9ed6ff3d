"""A checkpoint's exported files as one tar archive, made while it is sent."""

import os
import tarfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from asgiref.sync import sync_to_async

from pipeline.errors import DataError

NOT_EXPORTED = frozenset({"training"})
"""Folders of a checkpoint that only a resumed training reads."""
CHUNK = 1024 * 1024
END = bytes(2 * tarfile.BLOCKSIZE)


@dataclass(frozen=True)
class Entry:
    path: Path
    header: bytes
    size: int

    @property
    def padding(self) -> int:
        return -self.size % tarfile.BLOCKSIZE


@dataclass(frozen=True)
class Archive:
    """Regular files of one folder; links and hidden files are left out, so nothing outside of it can be reached."""

    name: str
    """Of the archive, and of the folder in it."""
    entries: list[Entry]

    @classmethod
    def of(cls, folder: Path, *, name: str) -> "Archive":
        return cls(name, [_entry(path, f"{name}/{path.relative_to(folder)}") for path in _files(folder)])

    @property
    def size(self) -> int:
        """Bytes of the whole archive."""
        return sum(len(entry.header) + entry.size + entry.padding for entry in self.entries) + len(END)

    def chunks(self) -> Iterator[bytes]:
        """The archive's bytes. Raises DataError when a file has become shorter meanwhile: a cut download is no archive; and
        OSError where it has become a link."""
        for entry in self.entries:
            yield entry.header
            left = entry.size
            with os.fdopen(os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                while left:
                    data = file.read(min(CHUNK, left))
                    if not data:
                        raise DataError(f"{entry.path} became shorter while it was sent")
                    left -= len(data)
                    yield data
            yield bytes(entry.padding)
        yield END

    async def from_loop(self) -> AsyncIterator[bytes]:
        """As `chunks`, with the reading done in threads."""
        chunks = self.chunks()
        following = sync_to_async(lambda: next(chunks, None), thread_sensitive=False)
        while (data := await following()) is not None:
            yield data


def _files(folder: Path) -> Iterator[Path]:
    """Without following links: `**` does not go into linked folders."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part in NOT_EXPORTED for part in parts)
        if not hidden and path.is_file() and not path.is_symlink():
            yield path


def _entry(path: Path, name: str) -> Entry:
    found = path.stat()
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = found.st_size, int(found.st_mtime), 0o644
    return Entry(path, info.tobuf(tarfile.PAX_FORMAT), found.st_size)
