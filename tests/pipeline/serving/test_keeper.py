"""The keeper wakes whoever waits for an engine, on every event loop."""

import asyncio
from typing import Any

from pipeline.config import EngineRef, SamplingConfig
from pipeline.serving.client import connect
from pipeline.serving.pool import EnginePool
from tests.support.servers import stub_engine
from tests.support.stub_engine import Behaviour


class EarlyLoop(asyncio.SelectorEventLoop):
    """A loop whose timers fire a little before their time, as those of uvloop do."""

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Any,  # noqa: ANN401  (as the base class has it)
        *args: Any,
        **options: Any,
    ) -> asyncio.TimerHandle:
        return super().call_later(delay * 0.9, callback, *args, **options)


def test_refused_requests_are_sent_again_though_timers_are_early() -> None:
    async def ask(url: str) -> int:
        pool = EnginePool([connect(EngineRef(name="e0", url=url), timeout_s=20)], on_change=lambda _change: None)
        sampling = SamplingConfig(max_new_tokens=8)
        try:
            async with asyncio.timeout(20):
                requests = (pool.generate((1, n), sampling, rid=f"r{n}", seed=n) for n in range(40))
                return len(await asyncio.gather(*requests))
        finally:
            await pool.close()

    with (
        stub_engine(Behaviour(latency_s=0.01, max_in_flight=1)) as (_stub, url),
        asyncio.Runner(loop_factory=EarlyLoop) as runner,
    ):
        assert runner.run(ask(url)) == 40
