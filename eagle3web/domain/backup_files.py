"""Which files of a home a backup keeps, what each of them held, and where a folder has something else now."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from pipeline.artifacts import sha256_file

PARTS = ("datasets", "projects", "runs", "imports")
"""Folders of a home that are kept. Uploads that wait for their form, the broker's memory and collected static files are not."""
KEY = "secret_key"
REMADE = "hidden"
"""Of a project: hidden states, which an extraction computes again."""


@dataclass(frozen=True)
class Content:
    """Of one file: bytes, and their hash."""

    size: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> "Content":
        return cls(path.stat().st_size, sha256_file(path))


@dataclass
class Inventory:
    """Names below a home, in the order of their paths; of links, each with where it leads."""

    files: list[str] = field(default_factory=list)
    followed: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def take_inventory(home: Path, *, beside: Iterable[Path] = ()) -> Inventory:
    """Files of the kept folders, and the key.

    Links to what lies elsewhere are followed: a person moved that to another disk, and a backup without it were none. Links
    back into the home, around it or around the folders `beside`, and links to nothing are left out.
    """
    found = Inventory()
    fixed = [home.resolve(), *(folder.resolve() for folder in beside)]
    for part in PARTS:
        _take_folder(home / part, PurePath(part), [*fixed], found)
    if (home / KEY).is_file():
        found.files.append(KEY)
    return found


def _take_folder(folder: Path, name: PurePath, around: list[Path], found: Inventory) -> None:
    """`around`: folders that a link must not lead to or above, since they hold this one or are no part of the backup."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        below = name / entry.name
        if below.parts[0] == "projects" and below.parts[2:] == (REMADE,):
            continue
        inside = around
        if entry.is_symlink():
            to = Path(entry.path).resolve()
            wrong = to.is_relative_to(around[0]) or any(place.is_relative_to(to) for place in around)
            (found.left_out if wrong or not to.exists() else found.followed).append(f"{below} → {to}")
            if wrong:
                continue
            inside = [*around, to]
        if entry.is_dir():
            _take_folder(Path(entry.path), below, inside, found)
        elif entry.is_file():
            found.files.append(str(below))


def copy_new(home: Path, names: Iterable[str], kept: Path, incoming: Path, known: Mapping[str, Content]) -> dict[str, Content]:
    """Copy what `kept` does not have yet into `incoming`; what each file holds in the one or the other.

    `known` says so of `kept`. Files that vanish meanwhile were not to be kept. What an interrupted call left in `incoming`
    is used where it is still the same.
    """
    copying = incoming / ".copying"
    contents = {}
    for name in names:
        try:
            found = home / name
            if _same(found, kept / name):
                (incoming / name).unlink(missing_ok=True)
                contents[name] = known.get(name) or Content.of(kept / name)
                continue
            if not _same(found, incoming / name):
                (incoming / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(found, copying)
                copying.replace(incoming / name)
            contents[name] = Content.of(incoming / name)
        except FileNotFoundError:
            continue
    return contents


def _same(one: Path, other: Path) -> bool:
    """As far as size and time of change say. Raises FileNotFoundError where `one` has vanished."""
    found = one.stat()
    try:
        there = other.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return (there.st_size, there.st_mtime_ns) == (found.st_size, found.st_mtime_ns)


def copy_all(source: Path, names: Iterable[str], target: Path) -> int:
    """Copy into folders that are empty; how many files."""
    count = 0
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, target / name)
        count += 1
    return count


def differing(folder: Path, contents: Mapping[str, Content]) -> Iterator[str]:
    """Each file of the record that is not there as it was, with what is wrong. Reads every byte."""
    for name, content in contents.items():
        path = folder / name
        if not path.is_file():
            yield f"{name} is missing"
        elif (size := path.stat().st_size) != content.size:
            yield f"{name} has {size:,} bytes instead of {content.size:,}"
        elif sha256_file(path) != content.sha256:
            yield f"{name} has other bytes than were written"
