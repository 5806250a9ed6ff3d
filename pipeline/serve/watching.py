"""A server that is ready: what it does, and whether it still generates."""

import asyncio
import time
from collections.abc import Callable

from pipeline.errors import EngineError, EngineUnavailableError
from pipeline.event import Event
from pipeline.server_events import ServerMeasured
from pipeline.serving.client import EngineClient
from pipeline.serving.records import EngineLoads

PROBE_S = 10.0
"""Between two proofs that it generates, at most; each costs an idle server one token."""
AGAIN_S = 0.5
"""After a proof that failed."""
IDLE_S = 10.0
"""What does not change is told this often."""


class Watcher:
    def __init__(self, client: EngineClient, *, number: int, hang_s: float, emit: Callable[[Event], None]) -> None:
        self._client = client
        self._number = number
        self._hang_s = hang_s
        self._emit = emit
        self._told: ServerMeasured | None = None
        self._told_at = 0.0

    async def probe(self) -> None:
        """Ask it to generate, for ever. Raises EngineUnavailableError when it did not for `hang_s`."""
        last_good = time.monotonic()
        while True:
            health = await self._client.probe()
            now = time.monotonic()
            if health.ok:
                last_good = now
            elif now - last_good > self._hang_s:
                silent = f"the server generated nothing for {now - last_good:.0f} s, though asked"
                raise EngineUnavailableError(f"{silent}: {health.detail}")
            await asyncio.sleep(min(PROBE_S, self._hang_s / 2) if health.ok else AGAIN_S)

    async def measure(self) -> str:
        """Tell what it does, if that changed; what it waits for, in words."""
        loads = await self.loads()
        if loads is None:
            return "an answer of the server"
        measured = ServerMeasured(
            number=self._number,
            running=loads.running,
            waiting=loads.waiting,
            tokens_per_s=round(loads.gen_throughput, 2),
            accept_length=round(loads.accept_length, 4) if loads.accept_length is not None else None,
        )
        if measured != self._told or time.monotonic() - self._told_at >= IDLE_S:
            self._told_at, self._told = time.monotonic(), measured
            self._emit(measured)
        return "" if loads.running or loads.waiting else "requests"

    async def loads(self) -> EngineLoads | None:
        """None when it does not tell now; whether it hangs is `probe`'s to find out."""
        try:
            return await self._client.loads()
        except EngineError:
            return None
