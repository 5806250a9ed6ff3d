"""Health is asked of the real parts; a part that hangs is down, not awaited."""

import asyncio
import time
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from eagle3web.domain import health
from eagle3web.domain.health import Health, Part, check_health
from eagle3web.enums import EngineState
from tests.support import factories as make
from tests.support.servers import wait_until
from tests.support.system import System


@pytest.fixture
def valkey(bare_system: System) -> System:
    bare_system.start("valkey")
    return bare_system


def check() -> Health:
    return async_to_sync(check_health)()


@pytest.mark.slow
def test_all_parts_answer(valkey: System) -> None:
    # A part that answers late is down, and on a machine with other work any of them may be late once.
    wait_until(lambda: all(part.ok for part in check().parts.values()), "all parts answer in time")
    found = check()
    assert set(found.parts) == {"database", "broker", "channel_layer"}


def test_broker_away_is_down_and_the_database_still_answers(transactional_db: None) -> None:
    found = check()
    assert {name: part.ok for name, part in found.parts.items()} == {"database": True, "broker": False, "channel_layer": False}
    assert found.status == "down"
    assert found.parts["broker"].error == "ConnectionError"


def test_part_that_hangs_is_down_within_the_time_limit(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang() -> None:
        await asyncio.sleep(30)

    monkeypatch.setattr(health, "_ping_broker", hang)
    start = time.monotonic()
    assert check().parts["broker"].error == "TimeoutError"
    assert time.monotonic() - start < 3


def test_workers_and_engines_are_reported_with_their_age(transactional_db: None) -> None:
    make.host(name="gpu-07")
    make.host(name="gpu-08", seen_at=timezone.now() - timedelta(minutes=2))
    make.host(name="gpu-09", seen_at=None)
    make.engine(name="a", state=EngineState.DOWN, reason="http://secret-host refused")
    make.engine(name="b", enabled=False)
    found = check()
    assert {worker.host: worker.ok for worker in found.workers} == {"gpu-07": True, "gpu-08": False, "gpu-09": False}
    assert [(worker.age_s is None, (worker.age_s or 0) >= 120) for worker in found.workers] == [
        (False, False),
        (False, True),
        (True, False),
    ]
    assert [(engine.name, engine.state) for engine in found.engines] == [("a", "down")]


GOOD, BAD = Part(ok=True, ms=1), Part(ok=False, ms=1, error="OSError")
YOUNG, OLD = health.Worker(host="a", age_s=1, ok=True), health.Worker(host="b", age_s=99, ok=False)


@pytest.mark.parametrize(
    ("database", "workers", "engine", "status", "down"),
    [
        (GOOD, [OLD, YOUNG], "healthy", "ok", []),
        (GOOD, [YOUNG], "loading", "ok", []),
        (GOOD, [YOUNG], "down", "degraded", ["engine e1"]),
        (GOOD, [OLD], "hanging", "degraded", ["worker", "engine e1"]),
        (BAD, [YOUNG], "healthy", "down", ["database"]),
    ],
)
def test_status_names_what_is_down(
    database: Part, workers: list[health.Worker], engine: str, status: str, down: list[str]
) -> None:
    found = Health(parts={"database": database}, workers=workers, engines=[health.EngineHealth(name="e1", state=engine)])
    assert (found.status, found.down) == (status, down)
