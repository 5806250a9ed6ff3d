"""The database as one file and back, while others write to it: what was committed when the copy began, all of it or nothing."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from django.db import connection, transaction

NAMES = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
"""Of the copy's file."""
NOT_INSTALLED = "is not installed: apt-get install postgresql-client"


class CopyFailedError(Exception):
    """The text says what could not be copied, for a person."""


def place_in(folder: Path) -> Path:
    """Of the copy, by the kind of this installation's database."""
    return folder / NAMES[connection.vendor]


def copy_out(path: Path) -> dict[str, int]:
    """Write the database into a new file of this user's alone; rows of each table in the copy. Raises CopyFailedError."""
    path.touch(mode=0o600)
    if connection.vendor == "sqlite":
        with _sqlite(Path(connection.settings_dict["NAME"])) as ours, _sqlite(path) as copy:
            ours.backup(copy)
            return _count_rows_of(copy)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT pg_export_snapshot()")
        (snapshot,) = cursor.fetchone()
        _run("pg_dump", "--format=custom", "--no-owner", f"--snapshot={snapshot}", f"--file={path}")
        return count_rows()


def check_copy_in(path: Path, rows: Mapping[str, int]) -> None:
    """Raises CopyFailedError where `copy_in` cannot work, or would not bring so many rows.

    That is: no copy, no program for it, a database that has tables already, a copy that is damaged.
    """
    if not path.is_file():
        raise CopyFailedError(f"{path} is not there: the backup was made of another kind of database")
    if connection.vendor == "postgresql" and shutil.which("pg_restore") is None:
        raise CopyFailedError(f"pg_restore {NOT_INSTALLED}")
    if connection.introspection.table_names():
        raise CopyFailedError("the database has tables already; restore into an empty one")
    if connection.vendor == "postgresql":
        # Into a script that nobody reads, for which no server is asked: every block is unpacked once.
        _run("pg_restore", f"--file={os.devnull}", str(path))
        return
    with _copy(path) as copy:
        ((first, *_),) = copy.execute("PRAGMA integrity_check(1)")
        if first != "ok":
            raise CopyFailedError(f"{path} is damaged: {first}")
        compare_rows(_count_rows_of(copy), rows, f"{path} has")


def copy_in(path: Path) -> None:
    """Fill an empty database from the copy. Raises CopyFailedError."""
    if connection.vendor == "sqlite":
        connection.close()
        with _copy(path) as copy, _sqlite(Path(connection.settings_dict["NAME"])) as ours:
            copy.backup(ours)
    else:
        _run("pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", f"--dbname={_name()}", str(path))


def empty() -> None:
    """Take every table away. Raises DatabaseError."""
    with connection.schema_editor() as editor:
        for name in connection.introspection.table_names():
            editor.execute(editor.sql_delete_table % {"table": editor.quote_name(name)})


def compare_rows(found: Mapping[str, int], wanted: Mapping[str, int], what: str) -> None:
    """Raises CopyFailedError that names the tables whose numbers differ."""
    if differ := sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name)):
        raise CopyFailedError(f"{what} other numbers of rows than the backup says: {', '.join(differ[:5])}")


def count_rows() -> dict[str, int]:
    """Rows of each table as this transaction sees them."""
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        found = {}
        for name in names:
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(name)}")  # noqa: S608  # nosec B608
            found[name] = cursor.fetchone()[0]
    return found


def _count_rows_of(copy: sqlite3.Connection) -> dict[str, int]:
    names = copy.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()
    return {name: copy.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in names}  # noqa: S608  # nosec B608


@contextlib.contextmanager
def _sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    """Raises CopyFailedError that names the file, for whatever SQLite says of it."""
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=20)) as opened:
            yield opened
    except sqlite3.Error as error:
        raise CopyFailedError(f"{path}: {error}") from error


@contextlib.contextmanager
def _copy(path: Path) -> Iterator[sqlite3.Connection]:
    """As a file that nobody writes: also on a disk that cannot be written, and nothing is left beside it."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)) as opened:
            yield opened
    except sqlite3.DatabaseError as error:
        raise CopyFailedError(f"{path} is damaged: {error}") from error


def _name() -> str:
    return str(connection.settings_dict["NAME"])


def _run(program: str, *arguments: str) -> None:
    """One of PostgreSQL's own programs, told of the server by its environment, which other people's `ps` does not show."""
    told = connection.settings_dict
    who = {"PGHOST": told["HOST"], "PGPORT": told["PORT"], "PGUSER": told["USER"], "PGPASSWORD": told["PASSWORD"]}
    environment = os.environ | {name: str(value) for name, value in who.items() if value} | {"PGDATABASE": _name()}
    try:
        subprocess.run([program, *arguments], env=environment, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise CopyFailedError(f"{program} {NOT_INSTALLED}") from error
    except subprocess.CalledProcessError as error:
        raise CopyFailedError(f"{program} failed: {error.stderr.strip()[-500:]}") from error
