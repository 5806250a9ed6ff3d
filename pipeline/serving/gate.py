"""Where requests wait, first come first served, until an engine takes one more."""

import asyncio
from collections import deque
from collections.abc import Sequence

from pipeline.errors import AbortedError
from pipeline.serving.lane import Lane


class Gate:
    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes = lanes
        self._waiters: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        return len(self._waiters)

    async def enter(self) -> Lane:
        """The least loaded engine that takes a request now; waits for one. Raises AbortedError when dismissed."""
        join = self._waiters.append
        while True:
            now = asyncio.get_running_loop().time()
            open_lanes = [lane for lane in self._lanes if lane.has_room(now)]
            if open_lanes:
                return min(open_lanes, key=lambda lane: lane.in_flight)
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            join(waiter)
            join = self._waiters.appendleft  # woken in vain: its turn is still the next one
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    # Woken and cancelled at once: the room that it was woken for belongs to the next.
                    self.wake()
                elif waiter in self._waiters:
                    self._waiters.remove(waiter)
                raise

    def wake(self, count: int = 1) -> None:
        """Let this many waiters look for room again."""
        while self._waiters and count > 0:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                count -= 1

    def wake_all(self) -> None:
        self.wake(len(self._waiters))

    def dismiss(self) -> None:
        """End the waiting of all with AbortedError."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_exception(AbortedError("the request was taken back before it was sent"))
