"""Everything that cannot be made again, in one folder, taken while runs work, and brought back into an empty installation.

The database is copied first and the files after it, so that no row lacks its files; what the files have more than the rows is
read from them by the next reconcile, as after any crash. `backup.json` is written last: a folder without it is no backup.
A later backup takes the place of the one before only once it is whole: where it fails, that one can still be restored.
"""

import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections

from eagle3web.domain import attempts
from eagle3web.domain.database_copies import CopyFailedError, check_copy_in, copy_in, copy_out, count_rows, place_in
from eagle3web.domain.relocation import relocate
from eagle3web.enums import AttemptStatus
from eagle3web.models import Attempt
from pipeline.artifacts import naming_full_disks, read_json, write_json

MANIFEST = "backup.json"
PARTS = ("datasets", "projects", "runs", "imports")
"""Folders of a home that are kept. Uploads that wait for their form, the broker's memory and collected static files are not."""
REMADE = "hidden"
"""Below a project: hidden states, which an extraction computes again."""


def back_up(folder: Path) -> dict[str, Any]:
    """Copy database and home into `folder`; what `backup.json` says. A later call copies only files that are new or changed.

    Raises CopyFailedError, DiskFullError.
    """
    home: Path = settings.EAGLE3_HOME
    if folder.resolve().is_relative_to(home):
        raise CopyFailedError(f"{folder} lies in the home that is to be copied; choose another disk")
    folder.mkdir(parents=True, exist_ok=True)
    kept = place_in(folder)
    dump = kept.with_name(f"{kept.name}.new")
    dump.unlink(missing_ok=True)
    with naming_full_disks("a backup", folder):
        rows = copy_out(dump)
        files = copy_files(home, folder / "home")
        if (home / "secret_key").exists():
            shutil.copy2(home / "secret_key", folder / "home" / "secret_key")
    made = {"made_at": datetime.now(UTC).isoformat(), "home": str(home), "database": connection.vendor, "rows": rows}
    dump.replace(kept)
    write_json(folder / MANIFEST, made | {"files": files})
    return made | {"files": files}


def restore(folder: Path) -> dict[str, Any]:
    """Fill this empty installation from a backup; what `backup.json` says. Raises CopyFailedError, DiskFullError.

    Consequences: files, then rows, then migrations of a newer version; rows that spoke of another home speak of this one. In
    another home, attempts that were live are lost, and can be resumed; in the same one their supervisors may still live, and
    the next reconcile judges them.
    """
    if not (folder / MANIFEST).is_file():
        raise CopyFailedError(f"{folder} has no {MANIFEST}: it is no backup, or one that was never finished")
    made, home = read_json(folder / MANIFEST), Path(settings.EAGLE3_HOME)
    if taken := [part for part in PARTS if any((home / part).glob("*"))]:
        raise CopyFailedError(f"{home} has {', '.join(taken)} already; restore into an empty home")
    # What can be refused is refused before the first file is written, so that the same call works once that is mended.
    check_copy_in(place_in(folder))
    with naming_full_disks("a restored home", home):
        copy_files(folder / "home", home)
        if (folder / "home" / "secret_key").exists():
            shutil.copy2(folder / "home" / "secret_key", home / "secret_key")
    copy_in(place_in(folder))
    if (found := count_rows()) != made["rows"]:
        differ = ", ".join(name for name in made["rows"] if found.get(name) != made["rows"][name])
        raise CopyFailedError(f"the restored database has other numbers of rows than the backup: {differ}")
    call_command("migrate", verbosity=0)
    connections.close_all()
    if made["home"] != str(home):
        relocate(Path(made["home"]), home)
        for attempt in Attempt.objects.filter(status__in=AttemptStatus.LIVE).select_related("run"):
            reason = "lost: it was live when the backup was made from which this installation was restored"
            attempts.mark(attempt, old=AttemptStatus.LIVE, new=AttemptStatus.LOST, reason=reason)
    return dict(made)


def copy_files(source: Path, target: Path) -> int:
    """Copy the kept folders; how many files there are now. Files that vanish meanwhile were not to be kept.

    Whatever interrupts it, each file is the one before or the new one.
    """
    copying = target / ".copying"
    count = 0
    for path in _files(source):
        there = target / path.relative_to(source)
        count += 1
        try:
            found = path.stat()
            if there.exists() and (there.stat().st_size, there.stat().st_mtime_ns) == (found.st_size, found.st_mtime_ns):
                continue
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copying)
            copying.replace(there)
        except FileNotFoundError:
            count -= 1
    return count


def _files(home: Path) -> Iterable[Path]:
    for part in PARTS:
        for path in sorted((home / part).rglob("*")):
            below = path.relative_to(home).parts
            if path.is_file() and not path.is_symlink() and below[2:3] != (REMADE,):
                yield path
