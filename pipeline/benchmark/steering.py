"""What people ask of a benchmark while it works: to stop, to pause, to go on."""

import asyncio
from collections.abc import Callable
from typing import Any

from pipeline.control import ControlReader, Pause, Resume, Stop
from pipeline.errors import ConfigError

POLL_S = 0.1


class Steering:
    def __init__(self, control: ControlReader, *, on_pause: Callable[[bool], None], warn: Callable[[str], None]) -> None:
        self.stop_reason: str | None = None
        self.stopping = asyncio.Event()
        """Send nothing more. What is in flight is waited for."""
        self._control = control
        self._on_pause = on_pause
        self._warn = warn
        self._going_on = asyncio.Event()
        self._going_on.set()

    async def follow(self) -> None:
        """Look for messages, for ever."""
        while True:
            for message in self._control.poll():
                match message:
                    case Stop():
                        self.stop(message.reason or "stopped")
                    case Pause() | Resume():
                        self._pause(isinstance(message, Pause))
                    case ConfigError():
                        self._warn(str(message))
            await asyncio.sleep(POLL_S)

    def stop(self, reason: str) -> None:
        self.stop_reason = self.stop_reason or reason
        self.stopping.set()
        self._going_on.set()

    async def may_go_on(self) -> bool:
        """Wait while paused; False once somebody asked for a stop."""
        await self._going_on.wait()
        return not self.stopping.is_set()

    async def unless_stopped(self, work: asyncio.Future[None]) -> bool:
        """Wait for something that may take long; False, and it is cancelled, when a stop comes first. Raises what it raises."""
        stopped = asyncio.ensure_future(self.stopping.wait())
        both: list[asyncio.Future[Any]] = [work, stopped]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                return False
            work.result()
            return True
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    def _pause(self, paused: bool) -> None:
        """A pass that has begun is measured to its end."""
        if self.stopping.is_set():
            return
        if paused:
            self._going_on.clear()
        else:
            self._going_on.set()
        self._on_pause(paused)
