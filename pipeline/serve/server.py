"""One start of the server: from its process to its answers, and to its end."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

from pipeline.config import EngineRef
from pipeline.errors import EngineUnavailableError
from pipeline.event import Event
from pipeline.serve.command import server_command, server_environment
from pipeline.serve.config import ServeConfig
from pipeline.serve.place import Place
from pipeline.serve.process import ServerProcess
from pipeline.serve.start_log import StartLog
from pipeline.serve.watching import Watcher
from pipeline.server_events import ServerDraining, ServerReady, ServerStarted
from pipeline.serving.client import connect
from pipeline.serving.transport import Transport, quietly

LOOK_S = 0.5
MEASURE_S = 2.0
PROBE_TIMEOUT_S = 30.0
CALM_LOOKS = 2
"""Looks in a row at a server without requests, before it counts as drained: one may be between queue and batch."""
ABORT_S = 5.0


class Server:
    """Call `close` on the way out, whatever happened."""

    def __init__(self, config: ServeConfig, place: Place, *, number: int, folder: Path, emit: Callable[[Event], None]) -> None:
        """Starts the process. Raises ConfigError for arguments that this SGLang does not know, OSError."""
        command = server_command(config, python=place.python, port=place.port, device=place.device, version=place.version)
        environment = server_environment(config, device=place.device, inherited=os.environ)
        if config.states:
            Path(config.states).mkdir(mode=0o700, parents=True, exist_ok=True)
        self._config, self._place, self._emit, self.number = config, place, emit, number
        self._born = time.monotonic()
        self._ready_at: float | None = None
        self._process = ServerProcess(command, log=folder / f"server-{number}.log", environment=environment)
        self._log = StartLog(self._process.log, number=number, emit=emit)
        name = config.engine or "sglang"
        ref = EngineRef(name=name, url=place.own_url)
        self._client = connect(ref, timeout_s=PROBE_TIMEOUT_S, probe_timeout_s=PROBE_TIMEOUT_S)
        self._transport = Transport(place.own_url, name=name)
        self._watcher = Watcher(self._client, number=number, hang_s=config.hang_s, emit=emit)
        self.doing = f"the start of SGLang {place.version}"
        """What is waited for, in words."""
        emit(
            ServerStarted(
                number=number,
                pid=self._process.pid,
                url=place.url,
                version=place.version,
                drafter=config.drafter_name or config.drafter,
                command=tuple(command[1:]),
                log=self._process.log.name,
            )
        )

    @property
    def ready_for_s(self) -> float:
        """Since it first answered; 0 before."""
        return time.monotonic() - self._ready_at if self._ready_at is not None else 0.0

    async def start(self) -> None:
        """Wait until it generates. Raises EngineError when it ends before, or takes too long."""
        following = asyncio.ensure_future(self._follow_start())
        try:
            while not (await self._client.probe()).ok:
                self._check_process()
                if time.monotonic() - self._born > self._config.ready_s:
                    raise EngineUnavailableError(f"the server was not ready within {self._config.ready_s:.0f} s")
                await asyncio.sleep(LOOK_S)
            info = await self._client.model_info()
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        self._ready_at = time.monotonic()
        self._emit(
            ServerReady(
                number=self.number,
                engine=self._config.engine,
                url=self._place.url,
                seconds=round(self._ready_at - self._born, 1),
                model=info.model_path,
                context_length=info.context_length,
            )
        )

    async def watch(self) -> None:
        """Measure it, for ever. Raises EngineUnavailableError when it ends by itself, or generates nothing though asked."""
        probing = asyncio.ensure_future(self._watcher.probe())
        try:
            while True:
                self._check_process()
                if probing.done():
                    probing.result()
                self._log.pass_on()
                self.doing = await self._watcher.measure()
                await asyncio.sleep(MEASURE_S)
        finally:
            probing.cancel()
            await asyncio.gather(probing, return_exceptions=True)

    async def drain(self, reason: str) -> None:
        """Wait for what it works on, up to the deadline; what is left then is aborted, and its senders are told so."""
        if self._ready_at is None or self._process.has_ended:
            return
        self._emit(ServerDraining(number=self.number, reason=reason, deadline_s=self._config.drain_s))
        deadline, calm = time.monotonic() + self._config.drain_s, 0
        while calm < CALM_LOOKS and time.monotonic() < deadline and not self._process.has_ended:
            loads = await self._watcher.loads()
            busy = loads.running + loads.waiting if loads else 0
            calm = 0 if busy else calm + 1
            self.doing = f"{busy} requests that it still works on" if busy else "its end"
            await asyncio.sleep(LOOK_S)
        if calm < CALM_LOOKS:
            abort = self._transport.post("/abort_request", {"rid": "", "abort_all": True}, timeout_s=ABORT_S)
            await quietly(abort, timeout_s=ABORT_S)

    async def close(self, *, at_once: bool = False) -> None:
        """End it and its children; a server that never answered, or hangs, is not asked first."""
        if at_once or self._ready_at is None:
            self._process.kill()
        else:
            self._process.terminate()
        self.doing = "its end"
        await asyncio.to_thread(self._process.wait)
        self._log.pass_on()
        await asyncio.gather(self._client.close(), self._transport.close())

    def _check_process(self) -> None:
        if fault := self._process.fault():
            raise EngineUnavailableError(fault)

    async def _follow_start(self) -> None:
        while True:
            self.doing = self._log.tell() or self.doing
            await asyncio.sleep(LOOK_S)
