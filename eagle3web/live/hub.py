"""One reader a topic, however many viewers: 100 people on one page cost one look at the database.

The hub of a process holds one channel in the group of pokes. A topic with viewers has one task that looks when it is poked,
when the clock alone will change a word, and every LOOK_EVERY seconds whatever happens, so that a lost poke costs two
seconds. It looks at most every MIN_PAUSE seconds. Readers run in two threads of their own, so that a slow database holds up
neither the sockets nor the pages.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from weakref import WeakKeyDictionary

from channels.db import DatabaseSyncToAsync
from channels.layers import get_channel_layer
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError
from redis.exceptions import RedisError

from eagle3web.live.feed import Feed, Missed
from eagle3web.live.records import Cursor, Reader, Reading
from eagle3web.pokes import GROUP

LOOK_EVERY = 2.0
MIN_PAUSE = 0.2
IDLE_FEEDS = 50
"""Feeds that stay in memory without viewers, so that one who was cut gets a delta and not everything again."""

log = logging.getLogger(__name__)
_threads = ThreadPoolExecutor(2, thread_name_prefix="live")


@dataclass(eq=False)
class Watch:
    """A topic that somebody looks at, or did a moment ago."""

    reader: Reader
    feed: Feed = field(default_factory=Feed)
    poked: asyncio.Event = field(default_factory=asyncio.Event)
    viewers: set[asyncio.Event] = field(default_factory=set)
    """Set when the feed has something new."""
    stalled_since: float | None = None
    """Since when the database has not answered, in seconds since the epoch."""
    clock_offset_s: float = 0.0
    """The database's clock minus this host's."""
    gone: bool = False
    """What the topic is about has been deleted."""
    task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        for event in self.viewers:
            event.set()


class Hub:
    """All topics of one event loop. Get it with `hub()`."""

    def __init__(self) -> None:
        self._watches: dict[Hashable, Watch] = {}
        self._pokes: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def viewing(self, key: Hashable, make_reader: Callable[[], Reader], wake: asyncio.Event) -> AsyncIterator[Watch]:
        """Look at a topic: `wake` is set whenever its feed changes. `key` names the topic and the rights of its viewers."""
        watch = self._watches.pop(key, None)
        if watch is None or watch.gone:
            watch = Watch(await _in_thread(make_reader)())
        watch = self._watches.setdefault(key, watch)
        watch.viewers.add(wake)
        if watch.task is None or watch.task.done():
            watch.task = asyncio.create_task(self._keep_looking(watch), name=f"live {key}")
            watch.task.add_done_callback(lambda _: watch.wake())
        if self._pokes is None or self._pokes.done():
            self._pokes = asyncio.create_task(self._listen(), name="live pokes")
        try:
            yield watch
        finally:
            watch.viewers.discard(wake)
            if not watch.viewers:
                await self._leave(watch)

    async def _leave(self, watch: Watch) -> None:
        if watch.task is not None:
            watch.task.cancel()
            watch.task = None
        idle = [key for key, other in self._watches.items() if not other.viewers]
        for key in idle[:-IDLE_FEEDS]:
            del self._watches[key]
        if self._pokes is not None and not any(other.viewers for other in self._watches.values()):
            self._pokes.cancel()
            self._pokes = None

    async def message(self, watch: Watch, cursor: Cursor) -> tuple[str, Cursor] | None:
        """What brings a viewer up to date, and its new cursor; None when it lacks nothing."""
        if watch.feed.n == 0:
            return None
        missed: dict[str, Missed] = {}
        for gap in watch.feed.gaps(cursor):
            missed[gap.stream] = await _in_thread(watch.reader.missed)(gap.stream, gap.after, gap.up_to)
        return watch.feed.message(cursor, missed)

    async def _keep_looking(self, watch: Watch) -> None:
        while True:
            started = time.monotonic()
            watch.poked.clear()
            pause = LOOK_EVERY
            try:
                reading: Reading = await _in_thread(watch.reader.read)(datetime.now(UTC))
            except DatabaseError as error:
                if watch.stalled_since is None:
                    log.warning("the database does not answer: %s", error)
                    watch.stalled_since = time.time()
                    watch.wake()
            except ObjectDoesNotExist:
                watch.gone = True
                watch.wake()
                return
            else:
                pause = self._take(watch, reading)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await watch.poked.wait()
            await asyncio.sleep(max(0.0, started + MIN_PAUSE - time.monotonic()))

    def _take(self, watch: Watch, reading: Reading) -> float:
        """Take a reading in and wake the viewers; the seconds until the next look."""
        here = datetime.now(UTC)
        watch.clock_offset_s = (reading.now - here).total_seconds() if reading.now else 0.0
        was_stalled, watch.stalled_since = watch.stalled_since, None
        if watch.feed.apply(reading) or was_stalled:
            watch.wake()
        if reading.look_again is None:
            return LOOK_EVERY
        return min(LOOK_EVERY, max(0.05, (reading.look_again - (reading.now or here)).total_seconds()))

    async def _listen(self) -> None:
        """Receive pokes for as long as anybody looks at anything; a broker that is away is tried again every second."""
        layer: Any = get_channel_layer()
        # Waits end before the client's own timeout (5 s) does, which would break the connection whenever nobody pokes.
        layer.brpop_timeout = LOOK_EVERY
        while True:
            try:
                channel = await layer.new_channel()
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._stay_in_group(layer, channel))
                    tasks.create_task(self._receive(layer, channel))
            except* (OSError, RedisError) as errors:
                log.warning("no pokes (%s); pages look by themselves", errors.exceptions[0])
            await asyncio.sleep(1)

    async def _stay_in_group(self, layer: Any, channel: str) -> None:  # noqa: ANN401  (a channel layer)
        """Join again and again: a broker that was restarted has forgotten who is in the group."""
        while True:
            await layer.group_add(GROUP, channel)
            await asyncio.sleep(LOOK_EVERY)

    async def _receive(self, layer: Any, channel: str) -> None:  # noqa: ANN401  (a channel layer)
        while True:
            message = await layer.receive(channel)
            topics = frozenset(message.get("topics", ()))
            for watch in self._watches.values():
                if watch.viewers and topics & watch.reader.pokes:
                    watch.poked.set()


def _in_thread(call: Callable[..., Any]) -> Callable[..., Any]:
    return DatabaseSyncToAsync(call, thread_sensitive=False, executor=_threads)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running event loop."""
    return _hubs.setdefault(asyncio.get_running_loop(), Hub())
