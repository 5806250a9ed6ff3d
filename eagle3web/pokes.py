"""Pokes: "something about this topic is new, go and read it". The channel layer carries nothing else.

Every web process has one channel in one group and fans out to its own viewers. A lost poke costs a viewer two seconds,
since whoever waits for pokes also looks by itself; so a broker that is away must never hold up the one who pokes.
"""

import asyncio
import atexit
import logging
import threading
from typing import Any

from channels.layers import get_channel_layer
from redis.exceptions import RedisError

GROUP = "pokes"
SEND_S = 2.0
"""Longest try to send."""
log = logging.getLogger(__name__)


def run_topic(run_id: int) -> str:
    return f"run.{run_id}"


def project_topic(project_id: int) -> str:
    return f"project.{project_id}"


ENGINES = "engines"


class Poker:
    """Sends pokes from a thread of its own, so that `poke` returns at once whatever the broker does.

    Topics that wait while the broker is slow are sent together.
    """

    def __init__(self) -> None:
        self._topics: set[str] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_away = False

    def poke(self, *topics: str) -> None:
        with self._lock:
            self._topics.update(topics)
            self._idle.clear()
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._send_all, name="pokes", daemon=True)
                self._thread.start()
                # A process that ends in the middle of a send would be aborted: the interpreter ends before its daemon threads.
                atexit.register(self.flush, timeout_s=2 * SEND_S)
        self._wake.set()

    def flush(self, *, timeout_s: float) -> bool:
        """Wait until everything is sent or lost, for a process that is about to end; whether it was in time."""
        return self._thread is None or self._idle.wait(timeout_s)

    def _send_all(self) -> None:
        # One loop for all sends, so that the layer keeps its connection; the waiting is done outside of it, in this daemon
        # thread, because a thread of the loop's own executor would keep the process from ending.
        with asyncio.Runner() as runner:
            while True:
                self._wake.wait()
                self._wake.clear()
                with self._lock:
                    topics, self._topics = sorted(self._topics), set()
                runner.run(self._send(topics))
                with self._lock:
                    if not self._topics:
                        self._idle.set()

    async def _send(self, topics: list[str]) -> None:
        layer: Any = get_channel_layer()
        try:
            async with asyncio.timeout(SEND_S):
                try:
                    await layer.group_send(GROUP, {"type": "poke", "topics": topics})
                except (OSError, RedisError):  # perhaps a connection from before a restart of the broker: the next one is new
                    await layer.group_send(GROUP, {"type": "poke", "topics": topics})
        except (OSError, TimeoutError, RedisError) as error:
            if not self._is_away:
                log.warning("pokes are lost (%s); viewers look by themselves within 2 s", error)
            self._is_away = True
        else:
            if self._is_away:
                log.info("pokes arrive again")
            self._is_away = False


_poker = Poker()
poke = _poker.poke
flush = _poker.flush
