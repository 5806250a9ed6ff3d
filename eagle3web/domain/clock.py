"""One clock for all hosts: the database's. Ages of heartbeats compare only when both moments come from it."""

from datetime import UTC, datetime

from django.db import connection


def database_now() -> datetime:
    """The moment on the database host's clock, in UTC. SQLite's host is this one, so no query is needed."""
    if connection.vendor == "sqlite":
        return datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT STATEMENT_TIMESTAMP()")
        found: datetime = cursor.fetchone()[0]
    return found.astimezone(UTC)
