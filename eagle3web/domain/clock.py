"""One clock for all hosts: the database's. Ages of heartbeats compare only when both moments come from it."""

import logging
import time
from datetime import UTC, datetime, timedelta

from django.db import DatabaseError, connection

ASKED_EVERY_S = 60.0
log = logging.getLogger(__name__)


def database_now() -> datetime:
    """The moment on the database host's clock, in UTC. SQLite's host is this one, so no query is needed."""
    if connection.vendor == "sqlite":
        return datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT STATEMENT_TIMESTAMP()")
        found: datetime = cursor.fetchone()[0]
    return found.astimezone(UTC)


class SharedClock:
    """The database's clock for those who must not wait for it: asked once a minute at most, and counted on from there.

    A database that is away leaves what was known; before it was ever asked, that is this host's own clock.
    """

    def __init__(self) -> None:
        self._known = datetime.now(UTC), time.monotonic()
        self._ask_at = 0.0

    def now(self) -> datetime:
        if connection.vendor == "sqlite":
            return database_now()
        if time.monotonic() >= self._ask_at:
            self._ask_at = time.monotonic() + ASKED_EVERY_S
            self._ask()
        moment, read_at = self._known
        return moment + timedelta(seconds=time.monotonic() - read_at)

    def _ask(self) -> None:
        try:
            self._known = database_now(), time.monotonic()
        except DatabaseError as error:
            log.warning("the database's clock cannot be read: %s", type(error).__name__)
        finally:
            # Nobody else closes what a thread without requests or tasks has opened.
            connection.close_if_unusable_or_obsolete()


shared_clock = SharedClock()
