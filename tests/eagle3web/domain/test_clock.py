"""The database's clock, and what is known of it without asking."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connection

from eagle3web.domain import clock

pytestmark = pytest.mark.django_db


def test_database_now_is_close_to_ours_on_one_machine() -> None:
    assert abs(clock.database_now() - datetime.now(UTC)) < timedelta(seconds=2)


def test_shared_clock_counts_on_from_what_the_database_said(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[datetime] = []

    def ahead() -> datetime:
        asked.append(datetime.now(UTC) + timedelta(minutes=5))
        return asked[-1]

    monkeypatch.setattr(connection, "vendor", "postgresql")
    monkeypatch.setattr(clock, "database_now", ahead)
    shared = clock.SharedClock()
    first = shared.now()
    time.sleep(0.05)
    assert timedelta(seconds=0.05) <= shared.now() - first < timedelta(seconds=2)
    assert timedelta(minutes=4) < first - datetime.now(UTC)
    assert len(asked) == 1


def test_shared_clock_is_our_own_while_the_database_was_never_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> datetime:
        raise DatabaseError

    monkeypatch.setattr(connection, "vendor", "postgresql")
    monkeypatch.setattr(clock, "database_now", away)
    assert abs(clock.SharedClock().now() - datetime.now(UTC)) < timedelta(seconds=2)
