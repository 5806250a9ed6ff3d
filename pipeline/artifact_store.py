"""Folders that hosts without a shared disk hand to one another: a directory that both reach, or a bucket.

    URL/blobs/ab/abcdef…       the bytes of one file, named by their SHA-256: written once, never changed
    URL/trees/NAME.json        which files a folder has: {"host": …, "files": {path: [sha256, size]}}; written last
    ….tmp-…                    on its way; what a killed host left of it is never read

A reader sees the tree from before or the new one, and every file is compared with its hash before it gets its name.
"""

import contextlib
import importlib
import json
import logging
import os
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec
from fsspec.exceptions import BlocksizeMismatchError
from fsspec.utils import get_protocol

from pipeline.artifacts import naming_full_disks, sha256_file
from pipeline.errors import ConfigError, DataError
from pipeline.fetched_files import (
    Files,
    exchanging_alone,
    files_of,
    is_newer_there,
    merge,
    read_fetched,
    travels,
    within,
    write_fetched,
)
from pipeline.folder_lock import keeping_writers_out

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Tree:
    host: str
    """Who published it."""
    files: Files

    def same_as(self, folder: Path, host: str) -> dict[str, str]:
        """What was last the same in the folder; as published, where this `host` did and the folder does not say."""
        return read_fetched(folder, otherwise=self.files if self.host == host else {})


@contextlib.contextmanager
def explaining_failures() -> Iterator[None]:
    """Turn what only a bucket's client raises into a DataError; the operating system's errors say themselves what they are."""
    try:
        yield
    except bucket_errors() as error:
        raise DataError(f"EAGLE3_ARTIFACTS: the store cannot be used: {error}") from error


def bucket_errors() -> tuple[type[Exception], ...]:
    """Loaded only once something went wrong; none where no bucket can be reached, because nothing is installed for it."""
    try:
        botocore = importlib.import_module("botocore.exceptions")
    except ImportError:
        return (BlocksizeMismatchError,)
    return (BlocksizeMismatchError, botocore.BotoCoreError, botocore.ClientError)


class ArtifactStore:
    def __init__(self, url: str) -> None:
        """Raises ConfigError for an address that nothing here can reach."""
        try:
            self._files: Any = fsspec.filesystem(get_protocol(url))
        except (ImportError, ValueError) as error:
            raise ConfigError(f"EAGLE3_ARTIFACTS: {url} cannot be reached: {error}") from error
        self._root = str(self._files._strip_protocol(url)).rstrip("/")

    @explaining_failures()
    def publish(self, folder: Path, name: str, *, host: str) -> Files:
        """Hand over the folder as it is now; what has this name then. Sends only files that nobody sent before.

        What other hosts published since it was fetched stays, and what a process here writes to is left to that one. Raises
        DataError for a file that was changed here and there.
        """
        with exchanging_alone(folder), keeping_writers_out(folder) as busy:
            # Bytes take long and harm nobody; the list is read after them, so that hardly any time is left for another host's.
            mine = {relative: self._put(path) for relative, path in files_of(folder) if not busy.intersection(path.parents)}
            tree = self._read_tree(name) or _Tree(host=host, files={})
            same = tree.same_as(folder, host)
            written = {relative: digest for relative, digest in same.items() if busy.intersection((folder / relative).parents)}
            settled = {relative: digest for relative, digest in same.items() if relative not in written}
            found = merge(mine, tree.files, same=settled, folder=folder, host=tree.host)
            with self._whole(self._tree(name)) as temporary:
                self._files.pipe_file(temporary, json.dumps({"host": host, "files": found}).encode())
            write_fetched(folder, written | {relative: digest for relative, (digest, _) in mine.items()})
        return found

    @explaining_failures()
    def fetch(self, name: str, folder: Path, *, host: str) -> bool:
        """Bring the folder that has this name here; False when nobody published it.

        Files that were changed only here since stay, as do those of which the tree says nothing, and all in folders that a
        process here writes to. Raises DataError for a file that was changed here and there, and then replaces none; DataError
        for bytes that are not what the tree says; DiskFullError.
        """
        if not self.has(name):
            return False
        with exchanging_alone(folder), keeping_writers_out(folder) as busy:
            tree = self._read_tree(name)
            if tree is None:
                return False
            for written in sorted(busy):
                log.warning("%s is being written here; it stays as it is", written)
            self._take_newer(tree, folder, host, busy)
        return True

    @explaining_failures()
    def has(self, name: str) -> bool:
        return bool(self._files.exists(self._tree(name)))

    def _take_newer(self, tree: "_Tree", folder: Path, host: str, busy: set[Path]) -> None:
        paths = {relative: within(folder, relative) for relative in tree.files if travels(relative)}
        free = {relative: path for relative, path in paths.items() if not busy.intersection(path.parents)}
        same = tree.same_as(folder, host)
        # All are compared before one is replaced.
        newer = [
            relative
            for relative, path in free.items()
            if is_newer_there(path, tree.files[relative], same=same.get(relative), host=tree.host)
        ]
        for relative in newer:
            self._get(tree.files[relative][0], free[relative])
        write_fetched(folder, same | {relative: tree.files[relative][0] for relative in free})

    def _put(self, path: Path) -> tuple[str, int]:
        """Raises DataError for a file that somebody writes to meanwhile."""
        before = path.stat()
        digest, size = sha256_file(path), before.st_size
        if not self._has_blob(digest, size):
            with self._whole(self._blob(digest)) as temporary:
                self._files.put_file(str(path), temporary)
                if (now := path.stat()).st_size != size or now.st_mtime_ns != before.st_mtime_ns:
                    raise DataError(f"{path} is being written and was not published; publish it again")
        return digest, size

    def _has_blob(self, digest: str, size: int) -> bool:
        """Whether all of it is there."""
        try:
            return int(self._files.info(self._blob(digest))["size"]) == size
        except FileNotFoundError:
            return False

    @contextlib.contextmanager
    def _whole(self, path: str) -> Iterator[str]:
        """A name to write to; what stands there gets the name `path` in one step, and nothing does when writing fails."""
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        temporary = f"{path}.tmp-{uuid.uuid4().hex}"
        try:
            yield temporary
            self._files.mv(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                self._files.rm_file(temporary)
            raise

    def _get(self, digest: str, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with naming_full_disks(path.name, path.parent):
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            os.close(descriptor)
            try:
                self._files.get_file(self._blob(digest), name)
                if sha256_file(Path(name)) != digest:
                    raise DataError(f"{path.name}: the store has other bytes than it says (SHA-256 {digest[:12]}…)")
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise

    def _read_tree(self, name: str) -> "_Tree | None":
        try:
            found = json.loads(self._files.cat_file(self._tree(name)))
            files = {str(path): (str(digest), int(size)) for path, (digest, size) in found["files"].items()}
            return _Tree(host=str(found["host"]), files=files)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{name}: the store's list of its files cannot be read: {error}") from error

    def _tree(self, name: str) -> str:
        return f"{self._root}/trees/{name}.json"

    def _blob(self, digest: str) -> str:
        return f"{self._root}/blobs/{digest[:2]}/{digest}"
