"""Is the system up? Each part is asked at once, and an answer that takes longer than TIMEOUT_S counts as none."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import sync_to_async
from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import DatabaseError, connection
from redis.asyncio import Redis
from redis.exceptions import RedisError

from eagle3web.domain.clock import database_now
from eagle3web.enums import EngineState
from eagle3web.models import Engine, Host

TIMEOUT_S = 1.0
WORKER_LOST_S = 30.0
"""A worker that was not heard for so long is not there; it reports every 5 s."""

NOT_WORKING = frozenset({EngineState.DOWN, EngineState.HANGING})


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part's answer."""

    ok: bool
    ms: int
    error: str = ""
    """The kind of failure, such as `TimeoutError`; never its text, which may carry an address or a password."""


@dataclass(frozen=True, kw_only=True)
class Worker:
    host: str
    age_s: float | None
    """Since it was last heard."""
    ok: bool


@dataclass(frozen=True, kw_only=True)
class EngineHealth:
    name: str
    state: str


@dataclass(frozen=True, kw_only=True)
class Health:
    parts: dict[str, Part]
    """database, broker, channel_layer."""
    workers: list[Worker] = field(default_factory=list)
    engines: list[EngineHealth] = field(default_factory=list)

    @property
    def up(self) -> bool:
        """The web side works. Workers and engines live on other machines; without them it is degraded, not down."""
        return all(part.ok for part in self.parts.values())

    @property
    def down(self) -> list[str]:
        """What does not work: parts, `worker` when none is heard so that nothing can be started, `engine NAME`."""
        found = [name for name, part in self.parts.items() if not part.ok]
        if not any(worker.ok for worker in self.workers):
            found.append("worker")
        return found + [f"engine {engine.name}" for engine in self.engines if engine.state in NOT_WORKING]

    @property
    def status(self) -> str:
        """down (the site itself) | degraded (something that runs need) | ok."""
        if not self.up:
            return "down"
        return "degraded" if self.down else "ok"


async def check_health() -> Health:
    """Ask every part, in about TIMEOUT_S at most."""
    workers: list[Worker] = []
    engines: list[EngineHealth] = []

    async def database() -> None:
        # In a thread of its own: one that hangs must not hold up the thread that serves requests.
        found = await sync_to_async(_read_database, thread_sensitive=False)()
        workers.extend(found[0])
        engines.extend(found[1])

    parts = await asyncio.gather(_ask(database), _ask(_ping_broker), _ask(_round_trip))
    names = ("database", "broker", "channel_layer")
    return Health(parts=dict(zip(names, parts, strict=True)), workers=workers, engines=engines)


async def _ask(question: Callable[[], Awaitable[None]]) -> Part:
    start = time.monotonic()
    error = ""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await question()
    except (OSError, DatabaseError, RedisError, ChannelFull) as failure:  # TimeoutError is an OSError
        error = type(failure).__name__
    return Part(ok=not error, ms=round((time.monotonic() - start) * 1000), error=error)


def _read_database() -> tuple[list[Worker], list[EngineHealth]]:
    try:
        now = database_now()
        hosts = list(Host.objects.values_list("name", "seen_at"))
        engines = list(Engine.objects.filter(enabled=True).values_list("name", "state"))
    finally:
        connection.close()
    ages = {name: None if seen is None else max(0.0, round((now - seen).total_seconds(), 1)) for name, seen in hosts}
    workers = [Worker(host=name, age_s=age, ok=age is not None and age <= WORKER_LOST_S) for name, age in ages.items()]
    return workers, [EngineHealth(name=name, state=state) for name, state in engines]


async def _ping_broker() -> None:
    client = Redis.from_url(settings.REDIS_URL, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S)
    try:
        await client.ping()
    finally:
        await client.aclose()


async def _round_trip() -> None:
    """Send a message to ourselves through the channel layer."""
    layer: Any = get_channel_layer()
    channel = await layer.new_channel()
    await layer.send(channel, {"type": "health"})
    await layer.receive(channel)
