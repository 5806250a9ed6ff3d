"""A copy that would not bring what it should is refused before it is brought."""

from pathlib import Path

import pytest
from django.db import connection

from eagle3web.domain.database_copies import CopyFailedError, check_copy_in, copy_in, copy_out, count_rows, empty, place_in
from tests.support import factories
from tests.support.empty_database import empty_database

pytestmark = pytest.mark.django_db(transaction=True)


def test_copy_brings_every_row_and_can_be_taken_away_again(tmp_path: Path) -> None:
    factories.project()
    rows = copy_out(place_in(tmp_path))
    with empty_database(tmp_path):
        check_copy_in(place_in(tmp_path), rows)
        copy_in(place_in(tmp_path))
        assert count_rows() == rows
        empty()
        assert connection.introspection.table_names() == []
    assert count_rows() == rows


def test_sqlite_copy_with_other_rows_is_refused_by_table(tmp_path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("a dump of PostgreSQL says how many rows it has only when it is restored")
    rows = copy_out(place_in(tmp_path))
    with empty_database(tmp_path), pytest.raises(CopyFailedError, match=r"than the backup says: eagle3web_run$"):
        check_copy_in(place_in(tmp_path), rows | {"eagle3web_run": 7})
