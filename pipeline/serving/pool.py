"""Several engines in one run: least loaded first, and no request is lost when one of them fails.

* An engine that cannot be reached, or that generates nothing when asked to, is *down*: its requests are taken back and sent
  elsewhere, and it is tried again with growing pauses until it generates (see `keeper`).
* A full queue (503) makes the pool send that engine less (see `lane`).
* A request is given up only where it is to blame: the engine refuses it (400), or it failed time and again on engines that
  were found healthy right after.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pipeline.config import SamplingConfig
from pipeline.errors import AbortedError, EngineBusyError, EngineError, EngineUnavailableError
from pipeline.events import EngineChanged
from pipeline.serving.base import EngineClient
from pipeline.serving.gate import Gate
from pipeline.serving.keeper import Keeper, KeeperSettings
from pipeline.serving.lane import Lane, backoff, take_back
from pipeline.serving.records import Answer, ModelInfo, Partial, PromptName
from pipeline.serving.transport import TimedOutError

ABORT_GRACE_S = 2.0
"""What an engine gets to answer an abort before its connections are closed."""


@dataclass(frozen=True, kw_only=True)
class PoolSettings:
    max_failures: int = 5
    """Failures of one request on healthy engines before it is given up."""
    max_timeouts: int = 2
    """The same for answers that took longer than the client's timeout."""
    keeper: KeeperSettings = field(default_factory=KeeperSettings)


@dataclass
class _Patience:
    """What one request has been through."""

    failures: int = 0
    timeouts: int = 0

    def is_over(self, error: EngineError, settings: PoolSettings) -> bool:
        if isinstance(error, TimedOutError):
            self.timeouts += 1
        else:
            self.failures += 1
        return self.timeouts >= settings.max_timeouts or self.failures >= settings.max_failures


class EnginePool:
    def __init__(
        self,
        clients: Sequence[EngineClient],
        *,
        on_change: Callable[[EngineChanged], None],
        settings: PoolSettings | None = None,
    ) -> None:
        """`on_change` is called in the event loop whenever an engine goes down, comes back, or gets less or more to do."""
        self._settings = settings or PoolSettings()
        self._lanes = [Lane(client) for client in clients]
        self._gate = Gate(self._lanes)
        self._keeper = Keeper(self._lanes, self._gate, on_change=on_change, settings=self._settings.keeper)
        self._epoch = 0
        """Grows with each abort_all: requests of an older epoch end."""

    @property
    def in_flight(self) -> int:
        """Requests sent and not answered."""
        return sum(lane.in_flight for lane in self._lanes)

    @property
    def waiting_for(self) -> str:
        """What requests wait for before they can be sent, in words for a person; empty when they flow."""
        if not self._gate.waiting:
            return ""
        if all(lane.state == "down" for lane in self._lanes):
            return "no engine answers: " + "; ".join(lane.reason for lane in self._lanes)
        busy = (f"{lane.reason} ({lane.limit:.0f} at once)" for lane in self._lanes if lane.state == "busy")
        return "the engines are busy: " + "; ".join(busy)

    async def generate(
        self,
        input_ids: Sequence[int],
        sampling: SamplingConfig,
        *,
        rid: str,
        seed: int,
        on_partial: Callable[[Partial], None] | None = None,
        prompt: PromptName | None = None,
    ) -> tuple[Answer, str]:
        """An answer and the name of the engine that gave it, however long that takes.

        Raises BadRequestError at once; EngineUnavailableError when this request fails again and again on engines that are
        healthy otherwise; AbortedError after `abort_all`, or when engines keep ending it early.
        """
        self._keeper.start()
        epoch, patience = self._epoch, _Patience()
        while True:
            lane = await self._gate.enter()
            try:
                async with self._occupying(lane):
                    answer = await lane.client.generate(
                        input_ids, sampling, rid=rid, seed=seed, on_partial=on_partial, prompt=prompt
                    )
            except EngineBusyError as error:
                self._keeper.refused(lane, error)
            except (EngineUnavailableError, AbortedError) as error:
                if epoch == self._epoch and await self._keeper.examine(lane, error):
                    if patience.is_over(error, self._settings):
                        raise
                    await asyncio.sleep(backoff(patience.failures))
            else:
                self._keeper.answered(lane)
                return answer, lane.name
            if epoch != self._epoch:
                raise AbortedError("the request was taken back")

    async def model_info(self) -> ModelInfo:
        """The tightest limits among the engines that answer; waits until one does."""
        self._keeper.start()
        while True:
            await self._gate.enter()
            infos = []
            for lane in self._lanes:
                try:
                    infos.append(await lane.client.model_info())
                except EngineError as error:
                    await self._keeper.examine(lane, error)
            if infos:
                return ModelInfo(
                    model_path=infos[0].model_path,
                    context_length=min((info.context_length for info in infos if info.context_length), default=None),
                    vocab_size=min((info.vocab_size for info in infos if info.vocab_size), default=None),
                    version=infos[0].version,
                )

    async def abort_all(self) -> None:
        """End every request of this pool with AbortedError, on the engines too. New requests are welcome after it."""
        self._epoch += 1
        self._gate.dismiss()
        scopes = {scope: lane for lane in self._lanes for scope in lane.scopes}
        try:
            async with asyncio.timeout(ABORT_GRACE_S):
                await asyncio.gather(*(lane.client.abort() for lane in self._lanes if lane.in_flight))
                while any(scope in lane.scopes for scope, lane in scopes.items()):
                    await asyncio.sleep(0.01)
        except TimeoutError:
            for scope, lane in scopes.items():
                if scope in lane.scopes:
                    take_back(scope, asyncio.get_running_loop().time())

    async def flush_captures(self) -> list[str]:
        """Have the engines write the hidden states that they kept; what went wrong with it, in words for a person."""
        problems = []
        for lane in self._lanes:
            try:
                problem = await lane.client.flush_capture()
            except EngineError as error:
                problem = str(error)
            if problem:
                problems.append(f"{lane.name} has not kept the hidden states of all answers: {problem}")
        return problems

    async def close(self) -> None:
        """Stop watching and close all connections; requests still in flight fail."""
        await self._keeper.stop()
        await asyncio.gather(*(lane.client.close() for lane in self._lanes))

    @asynccontextmanager
    async def _occupying(self, lane: Lane) -> AsyncIterator[None]:
        """Count a request as in flight. Raises EngineUnavailableError when the keeper takes it back from its engine."""
        lane.in_flight += 1
        if lane.in_flight == 1:
            lane.last_sign = asyncio.get_running_loop().time()
        scope = asyncio.timeout(None)
        lane.scopes.add(scope)
        try:
            async with scope:
                yield
        except TimeoutError as error:
            raise EngineUnavailableError(f"the request was taken back from {lane.name}") from error
        finally:
            lane.scopes.discard(scope)
            lane.in_flight -= 1
            self._gate.wake()
