"""Keeps the lanes of a pool honest: every change of a lane's state happens here, and is told."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pipeline.errors import EngineError
from pipeline.events import EngineChanged
from pipeline.serving.gate import Gate
from pipeline.serving.lane import Lane, backoff
from pipeline.serving.records import EngineHealth

T = TypeVar("T")

TELL_EVERY_S = 5.0
"""Failures that a healthy engine recovers from at once are told this often, with their number."""


@dataclass(frozen=True, kw_only=True)
class KeeperSettings:
    quiet_s: float = 15.0
    """An engine with requests and no answer for so long is asked to generate one token; if it does not, it is down."""
    longest_backoff_s: float = 5.0
    """Longest pause between two tries of an engine that is down."""


class Keeper:
    def __init__(
        self, lanes: Sequence[Lane], gate: Gate, *, on_change: Callable[[EngineChanged], None], settings: KeeperSettings
    ) -> None:
        self._lanes = lanes
        self._gate = gate
        self._on_change = on_change
        self._settings = settings
        self._tasks: set[asyncio.Task[Any]] = set()
        self._examinations: dict[Lane, asyncio.Task[bool]] = {}
        self._untold: dict[Lane, int] = {}
        self._watching = False

    def start(self) -> None:
        """Begin to watch for engines that hang. May be called again."""
        if not self._watching:
            self._watching = True
            self._spawn(self._watch())

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def answered(self, lane: Lane) -> None:
        now = _now()
        lane.answered(now)
        if lane.state == "busy" and lane.is_calm(now, self._gate.waiting):
            lane.recover(now)
            self._tell(lane, "the queue has room again")
        self._gate.wake()  # what the limit may have grown

    def refused(self, lane: Lane, error: EngineError) -> None:
        """A 503: send less, and say so when that begins."""
        lane.refused(_now())
        if lane.state == "ok":
            lane.state = "busy"
            self._tell(lane, f"{error} From now on {lane.limit:.0f} at once.")
        lane.reason = str(error)
        self._wake_later(lane)

    async def examine(self, lane: Lane, error: EngineError | None = None) -> bool:
        """Whether the engine generates, asked now after `error`; one that does not is drained. Many callers share one probe."""
        if lane.state == "down":
            return False
        if error is not None:
            self._untold[lane] = self._untold.get(lane, 0) + 1
        task = self._examinations.get(lane)
        if task is None:
            task = self._examinations[lane] = self._spawn(self._examine(lane, error))
        return await asyncio.shield(task)

    async def _examine(self, lane: Lane, error: EngineError | None) -> bool:
        try:
            health = await lane.client.probe()
        finally:
            del self._examinations[lane]
        if health.ok:
            lane.last_sign = _now()
            if error is not None:
                self._tell_failures(lane, error)
            return True
        self._drain(lane, health)
        return False

    def _drain(self, lane: Lane, health: EngineHealth) -> None:
        lane.state, lane.reason = "down", health.detail
        self._tell(lane, health.detail)
        lane.recall(_now())
        self._untold.pop(lane, None)
        self._spawn(self._bring_back(lane, health.state))

    async def _bring_back(self, lane: Lane, told: str) -> None:
        """Try an engine that is down until it generates; `told` is the kind of trouble that was told last."""
        tries = 0
        while True:
            tries += 1
            await asyncio.sleep(backoff(tries, longest_s=self._settings.longest_backoff_s))
            health = await lane.client.probe()
            if health.ok:
                break
            lane.reason = health.detail
            if health.state != told:
                told = health.state
                self._tell(lane, health.detail)
        lane.recover(_now())
        self._tell(lane, f"{lane.name} generates again")
        self._gate.wake_all()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._settings.quiet_s / 4)
            now = _now()
            for lane in self._lanes:
                if lane.in_flight and lane.state != "down" and now - lane.last_sign > self._settings.quiet_s:
                    self._spawn(self.examine(lane))

    def _wake_later(self, lane: Lane) -> None:
        """Wake a waiter once the lane takes requests again."""
        # Looked at again when the timer fires: uvloop's are early by a part of a millisecond, and a waiter that is woken
        # before its time waits again, with nobody left to wake it.
        delay = lane.resume_at - _now()
        if delay > 0:
            asyncio.get_running_loop().call_later(delay, self._wake_later, lane)
        else:
            self._gate.wake()

    def _tell_failures(self, lane: Lane, error: EngineError) -> None:
        if _now() - lane.last_told < TELL_EVERY_S:
            return
        count = self._untold.pop(lane)
        self._tell(lane, f"{error}; sent again" if count == 1 else f"{error}; {count} requests were sent again")

    def _tell(self, lane: Lane, reason: str) -> None:
        lane.last_told = _now()
        self._on_change(EngineChanged(engine=lane.name, state=lane.state, reason=reason, in_flight=lane.in_flight))

    def _spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _now() -> float:
    return asyncio.get_running_loop().time()
