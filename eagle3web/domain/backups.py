"""Everything that cannot be made again, in one folder, taken while runs work; `restores` brings it back.

The database is copied first and the files after it, so that no row lacks its files; what the files have more than the rows is
read from them by the next reconcile, as after any crash. All copies gather in `incoming`, and `backup.json` is written there
last. From then on the backup is whole, and `settle` moves it to its place: whatever interrupts a call, the folder holds the
backup before it or the new one, and never some of both.
"""

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connection

from eagle3web.domain import backup_manifest
from eagle3web.domain.backup_files import Content, Inventory, copy_new, take_inventory
from eagle3web.domain.backup_manifest import Manifest, read_manifest
from eagle3web.domain.database_copies import CopyFailedError, copy_out, place_in
from pipeline.artifacts import naming_full_disks
from pipeline.errors import DataError

INCOMING = "incoming"


@dataclass(frozen=True)
class BackUp:
    """What was made, and which links were met on the way."""

    manifest: Manifest
    found: Inventory


def back_up(folder: Path) -> BackUp:
    """Copy database and home into `folder`. A later call copies only files that are new or changed.

    Consequences: a folder made here, and the copy of the home in any, can be entered by this user only.
    Raises CopyFailedError, DiskFullError, OSError.
    """
    home: Path = settings.EAGLE3_HOME
    if folder.resolve().is_relative_to(home) or home.is_relative_to((folder / "home").resolve()):
        raise CopyFailedError(f"{folder} lies in the home that is to be copied, or around it; choose another disk")
    _make_private(folder)
    settle(folder)
    incoming = folder / INCOMING
    for place in (folder / "home", incoming, incoming / "home"):
        _make_private(place)
        place.chmod(0o700)
    dump = place_in(incoming)
    dump.unlink(missing_ok=True)
    with naming_full_disks("a backup", folder):
        rows = copy_out(dump)
        found = take_inventory(home, beside=[folder])
        contents = copy_new(home, found.files, folder / "home", incoming / "home", _known(folder))
        manifest = Manifest(
            made_at=datetime.now(UTC).isoformat(),
            home=str(home),
            database=connection.vendor,
            rows=rows,
            files=len(contents),
            contents=contents,
            dump=Content.of(dump),
        )
        manifest.write(incoming)
    settle(folder)
    return BackUp(manifest, found)


def settle(folder: Path) -> None:
    """Move a backup that is whole but not yet in its place there; a call that was interrupted is taken up again."""
    incoming = folder / INCOMING
    if not (incoming / backup_manifest.NAME).exists():
        return
    manifest = read_manifest(incoming)
    for name in manifest.contents or {}:
        if (incoming / "home" / name).exists():
            (folder / "home" / name).parent.mkdir(parents=True, exist_ok=True)
            (incoming / "home" / name).replace(folder / "home" / name)
    for path in (*incoming.glob("database.*"), incoming / backup_manifest.NAME):
        path.replace(folder / path.name)
    shutil.rmtree(incoming)


def _known(folder: Path) -> dict[str, Content]:
    """What the backup before says of its files; nothing where there is none that can be read."""
    try:
        return read_manifest(folder).contents or {}
    except (FileNotFoundError, DataError):
        return {}


def _make_private(folder: Path) -> None:
    """Where there is none. Raises CopyFailedError where something else has that name."""
    if folder.exists() and not folder.is_dir():
        raise CopyFailedError(f"{folder} is no folder; choose another place")
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
