"""From a backup to an installation that works, or back to the empty one.

What can be refused is refused before the first file is written.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from shutil import rmtree

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connections

from eagle3web.domain import attempts, backup_manifest
from eagle3web.domain.backup_files import KEY, PARTS, copy_all, differing, take_inventory
from eagle3web.domain.backup_manifest import Manifest, read_manifest
from eagle3web.domain.backups import settle
from eagle3web.domain.database_copies import (
    CopyFailedError,
    check_copy_in,
    compare_rows,
    copy_in,
    count_rows,
    empty,
    place_in,
)
from eagle3web.domain.relocation import relocate
from eagle3web.enums import AttemptStatus
from eagle3web.models import Attempt
from pipeline.artifacts import atomic_write, naming_full_disks

NAMED = 3
"""Files that a refusal names."""


class HalfRestoredError(Exception):
    """What was written could not be taken away again; the text says what failed, and what to delete."""


@dataclass(frozen=True)
class Restored:
    manifest: Manifest
    files: int
    """That were copied."""
    missing: int
    """As far as the numbers say, in a backup of a version that kept no record of its files."""


def restore(folder: Path) -> Restored:
    """Fill this empty installation from a backup. Raises CopyFailedError, DataError, DiskFullError, OSError, DatabaseError,
    HalfRestoredError.

    Consequences: files, then rows, then migrations of a newer version; rows that spoke of another home speak of this one. In
    another home, attempts that were live are lost, and can be resumed; in the same one their supervisors may still live, and
    the next reconcile judges them. What fails takes away again what it wrote, so that the same call works once that is mended.
    """
    home = Path(settings.EAGLE3_HOME)
    if taken := [part for part in PARTS if any((home / part).glob("*"))]:
        raise CopyFailedError(f"{home} has {', '.join(taken)} already; restore into an empty home")
    settle(folder)
    if not (folder / backup_manifest.NAME).is_file():
        raise CopyFailedError(f"{folder} has no {backup_manifest.NAME}: it is no backup, or one that was never finished")
    manifest = read_manifest(folder)
    check_copy_in(place_in(folder), manifest.rows)
    _check_files(folder, manifest)
    names = take_inventory(folder / "home").files if manifest.contents is None else manifest.contents
    with _all_or_nothing(home):
        with naming_full_disks("a restored home", home):
            files = copy_all(folder / "home", names, home)
        copy_in(place_in(folder))
        compare_rows(count_rows(), manifest.rows, "the restored database has")
        call_command("migrate", verbosity=0)
        connections.close_all()
        if manifest.home != str(home):
            _move_in(Path(manifest.home), home)
    missing = manifest.files - (files - (KEY in names)) if manifest.contents is None else 0
    return Restored(manifest, files, max(missing, 0))


def _check_files(folder: Path, manifest: Manifest) -> None:
    """Raises CopyFailedError that names the first files which are not what the backup wrote, and how many there are."""
    if manifest.contents is None or manifest.dump is None:
        return
    wrong = [*differing(folder, {place_in(folder).name: manifest.dump}), *differing(folder / "home", manifest.contents)]
    if wrong:
        named = "; ".join(islice(wrong, NAMED)) + (f"; and {len(wrong) - NAMED:,} more" if len(wrong) > NAMED else "")
        raise CopyFailedError(f"{folder} is damaged, {len(wrong):,} of {manifest.files + 1:,} files: {named}")


@contextlib.contextmanager
def _all_or_nothing(home: Path) -> Iterator[None]:
    """Take away what was written into this home and database, both empty before, when the block fails."""
    key = (home / KEY).read_bytes() if (home / KEY).exists() else None
    try:
        yield
    except BaseException as error:
        try:
            _take_away(home, key)
        except (DatabaseError, OSError) as second:
            folders = ", ".join(PARTS)
            raise HalfRestoredError(
                f"{error!r}, and then {second!r}. Delete {folders} in {home} and every table before you try again"
            ) from error
        raise


def _take_away(home: Path, key: bytes | None) -> None:
    for path in [path for part in PARTS for path in (home / part).glob("*")]:
        rmtree(path) if path.is_dir() else path.unlink()
    (home / KEY).unlink(missing_ok=True)
    if key is not None:
        atomic_write(home / KEY, key)
    empty()


def _move_in(old: Path, new: Path) -> None:
    relocate(old, new)
    for attempt in Attempt.objects.filter(status__in=AttemptStatus.LIVE).select_related("run"):
        reason = "lost: it was live when the backup was made from which this installation was restored"
        attempts.mark(attempt, old=AttemptStatus.LIVE, new=AttemptStatus.LOST, reason=reason)
