"""The web process keeps few connections to PostgreSQL and uses them again, however many requests come."""

import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from eagle3web.domain.people import issue_token
from eagle3web.enums import Role
from tests.support import factories
from tests.support.system import System

pytestmark = [pytest.mark.slow]
KEPT = 12
"""As the Procfile says."""


def backends() -> set[int]:
    """Processes of the server that work for somebody else than this test, in its database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()")
        return {pid for (pid,) in cursor.fetchall()}


def ask(system: System, token: str, *, times: int, at_once: int) -> list[int]:
    def once(_: int) -> int:
        request = urllib.request.Request(f"{system.url}/api/runs", headers={"authorization": f"Bearer {token}"})  # noqa: S310
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310  (our own loopback address)
            return int(answer.status)

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(once, range(times)))


def test_requests_share_the_connections_of_their_process(bare_system: System) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no connections to share; tests/stories/test_postgres.py runs this on PostgreSQL")
    bare_system.start("valkey", "web")
    token = issue_token(factories.user("ada", groups=(Role.VIEWER,)), "stories")
    assert set(ask(bare_system, token, times=10, at_once=1)) == {200}
    first = backends()
    assert first
    assert set(ask(bare_system, token, times=30, at_once=1)) == {200}
    assert backends() == first
    assert set(ask(bare_system, token, times=100, at_once=40)) == {200}
    assert first <= backends()
    assert len(backends()) <= KEPT
