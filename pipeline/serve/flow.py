"""The serve stage: start the server, watch it, start it again when it fails, and end it when somebody asks."""

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path

from pipeline.control import SwapDrafter
from pipeline.errors import ConfigError, EngineError
from pipeline.events import Warned
from pipeline.serve.command import server_command
from pipeline.serve.config import ServeConfig
from pipeline.serve.place import Place, find_place
from pipeline.serve.restarts import Restarts
from pipeline.serve.server import Server
from pipeline.serve.steering import Steering
from pipeline.server_events import DrafterSwapped, ServerEnded
from pipeline.stage import Outcome, Stage
from pipeline.stop_signals import stop_on_signals

TICK_S = 1.0


class Next(Enum):
    """What follows the end of a server."""

    ANOTHER = auto()
    NOTHING = auto()


def refusal(swap: SwapDrafter) -> str:
    """Why no server would start with this drafter, as far as a look at its folder tells."""
    missing = swap.drafter and not (Path(swap.drafter) / "config.json").is_file()
    return f"{swap.drafter} holds no drafter (no config.json)" if missing else ""


class Serving:
    def __init__(self, config: ServeConfig, stage: Stage) -> None:
        self._config = config
        self._stage = stage
        self._steering = Steering(stage.control, refusal=refusal, warn=self._warn)
        self._restarts = Restarts(config.restart)
        self._server: Server | None = None
        self._doing = "looking for SGLang"
        self._starts = 0

    async def run(self) -> Outcome:
        """Serve until somebody asks for the end. Raises PipelineError when the server cannot be kept up; none is left then."""
        started = time.monotonic()
        stop_on_signals(self._steering.stop)
        serving = asyncio.ensure_future(self._serve())
        helpers = [asyncio.ensure_future(helper) for helper in (self._tick(), self._steering.follow())]
        try:
            # A helper ends only when something is wrong.
            ended, _ = await asyncio.wait([serving, *helpers], return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()
        finally:
            for task in (serving, *helpers):
                task.cancel()
            await asyncio.gather(serving, *helpers, return_exceptions=True)
            if self._server is not None:
                await self._server.close(at_once=True)
        summary = {"starts": self._starts, "seconds": round(time.monotonic() - started, 1)}
        return Outcome(summary=summary, interrupted=self._steering.stop_reason)

    async def _serve(self) -> None:
        place = await find_place(self._config)
        following = Next.ANOTHER
        while following is Next.ANOTHER and self._steering.stop_reason is None:
            if swap := self._steering.take_swap():
                self._swap(swap, place)
            self._starts += 1
            self._server = Server(
                self._config, place, number=self._starts, folder=self._stage.folder.path, emit=self._stage.emit
            )
            try:
                await self._until_asked(self._server)
            except EngineError as failure:
                following = await self._after_failure(self._server, failure)
            else:
                following = await self._as_asked(self._server, place)
            self._server = None

    async def _until_asked(self, server: Server) -> None:
        """Until somebody asks for something. Raises EngineError when the server fails before."""
        work = asyncio.ensure_future(self._start_and_watch(server))
        asked = asyncio.ensure_future(self._steering.asked.wait())
        try:
            await asyncio.wait([work, asked], return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
        finally:
            for task in (work, asked):
                task.cancel()
            await asyncio.gather(work, asked, return_exceptions=True)

    async def _start_and_watch(self, server: Server) -> None:
        await server.start()
        await server.watch()

    async def _as_asked(self, server: Server, place: Place) -> Next:
        """End the server, drained, because of a stop or for another drafter."""
        swap = self._steering.take_swap()
        reason = self._steering.stop_reason or (f"it is to draft with {swap.name or 'nothing'}" if swap else "")
        await server.drain(reason)
        await server.close()
        self._stage.emit(ServerEnded(number=server.number, reason=reason, wanted=True))
        if self._steering.stop_reason is not None:
            return Next.NOTHING
        if swap is not None:
            self._swap(swap, place)
        return Next.ANOTHER

    def _swap(self, swap: SwapDrafter, place: Place) -> None:
        """Draft with another checkpoint from the next start on; one that will not do is refused, and the old one stays."""
        speculation = "drafter" if swap.drafter else "none"
        before = self._config.drafter_name or self._config.drafter
        try:
            changed = replace(
                self._config,
                drafter=swap.drafter,
                drafter_name=swap.name,
                speculation=speculation,  # type: ignore[arg-type]
            )
            server_command(changed, python=place.python, port=place.port, device=place.device, version=place.version)
        except ConfigError as error:
            self._warn(f"the drafter stays as it is: {error}")
            return
        self._config = changed
        self._stage.emit(DrafterSwapped(drafter=swap.drafter, name=swap.name, previous=before))

    async def _after_failure(self, server: Server, failure: EngineError) -> Next:
        """Wait for the next start, or for somebody who asks. Raises EngineError when there is none."""
        verdict = self._restarts.after_failure(ready_for_s=server.ready_for_s)
        await server.close(at_once=True)
        self._stage.emit(
            ServerEnded(
                number=server.number,
                reason=str(failure),
                wanted=False,
                retry_in_s=verdict.pause_s,
                failures=verdict.failures,
            )
        )
        if verdict.pause_s is None:
            raise failure
        self._server, self._doing = None, f"the next start, in {verdict.pause_s:.0f} s, after a failure"
        with suppress(TimeoutError):
            await asyncio.wait_for(self._steering.asked.wait(), verdict.pause_s)
        return Next.ANOTHER

    async def _tick(self) -> None:
        """Every second, for ever. Raises what `Stage.tick` raises."""
        while True:
            self._stage.tick(self._server.doing if self._server is not None else self._doing)
            await asyncio.sleep(TICK_S)

    def _warn(self, text: str) -> None:
        self._stage.emit(Warned(text=text))
