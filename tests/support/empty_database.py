"""Another database than the test's own, without tables."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from django.db import connection


@contextlib.contextmanager
def empty_database(folder: Path) -> Iterator[None]:
    """This process's connection leads there meanwhile: to a file in `folder`, or to a database of the same server."""
    ours = connection.settings_dict["NAME"]
    theirs = str(folder / "empty.sqlite3") if connection.vendor == "sqlite" else f"{ours}_empty"
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{theirs}"')
    _lead_to(theirs)
    try:
        yield
    finally:
        _lead_to(ours)
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(f'DROP DATABASE "{theirs}" WITH (FORCE)')


def _lead_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name
