"""What of a folder travels by a store, and what moved since it was last the same here and there.

The folder keeps a private `.fetched.json`: path → SHA-256 of each file as it was then. A file that moved on one side only is
taken from there; of one that moved on both, nobody can say which is right.
"""

import contextlib
import fcntl
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath

from pipeline.artifacts import read_record, sha256_file, write_json
from pipeline.errors import DataError
from pipeline.folder_lock import LOCK

Files = dict[str, tuple[str, int]]
"""Path below the folder → SHA-256 and bytes."""
Digests = dict[str, str]
FETCHED = ".fetched.json"
EXCHANGING = ".exchanging"
PRIVATE = "."
"""Files whose name begins so are unfinished, or of this host only."""


def travels(relative: str) -> bool:
    parts = PurePath(relative).parts
    return parts[-1] != LOCK and not any(part.startswith(PRIVATE) and part != ".." for part in parts)


def within(folder: Path, relative: str) -> Path:
    """Raises DataError for a path that is not below the folder."""
    path = folder / relative
    if not path.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{folder}: {relative} leads out of its folder")
    return path


def files_of(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and travels(relative := str(path.relative_to(folder))):
            yield relative, path


@contextlib.contextmanager
def exchanging_alone(folder: Path) -> Iterator[None]:
    """Wait until no other process of this host fetches or publishes the folder, and let none begin."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / EXCHANGING).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def read_fetched(folder: Path, *, otherwise: Files) -> Digests:
    """What was the same; in a folder that does not say so, what is there of the files that `otherwise` came from here."""
    path = folder / FETCHED
    if path.exists():
        return {name: str(digest) for name, digest in read_record(path).items()}
    return {name: digest for name, (digest, _) in otherwise.items() if (folder / name).exists()}


def write_fetched(folder: Path, same: Mapping[str, str]) -> None:
    write_json(folder / FETCHED, dict(same))


def is_newer_there(path: Path, there: tuple[str, int], *, same: str | None, host: str) -> bool:
    """Whether to take the file that `host` published in place of the one here. Raises DataError when both moved."""
    if not path.exists():
        return True
    return _takes_theirs((sha256_file(path), path.stat().st_size), there, same=same, path=path, host=host)


def merge(mine: Files, theirs: Files, *, same: Digests, folder: Path, host: str) -> Files:
    """What to publish after `host` did: all that is here, but for files that moved or came there alone. Raises DataError."""
    found = dict(mine)
    for name, there in theirs.items():
        if not travels(name):
            continue
        if name not in mine:
            # One that was the same on both sides and is here no more was deleted here.
            if name not in same:
                found[name] = there
        elif _takes_theirs(mine[name], there, same=same.get(name), path=folder / name, host=host):
            found[name] = there
    return found


def _takes_theirs(here: tuple[str, int], there: tuple[str, int], *, same: str | None, path: Path, host: str) -> bool:
    if here[0] == there[0] or there[0] == same:
        return False
    if here[0] == same:
        return True
    sides = [f"{size:,} bytes, SHA-256 {digest[:12]}…" for digest, size in (here, there)]
    raise DataError(
        f"{path} was changed here ({sides[0]}) and by host {host} in the store ({sides[1]}); nothing was replaced: "
        f"move {path.parent} elsewhere to go on with the store's"
    )
