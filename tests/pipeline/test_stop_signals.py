import asyncio
import os
import signal

import pytest

from pipeline.stop_signals import stop_on_signals


@pytest.mark.parametrize(("number", "reason"), [(signal.SIGTERM, "stopped by SIGTERM"), (signal.SIGINT, "stopped by Ctrl-C")])
def test_signal_becomes_a_wish_with_its_reason(number: signal.Signals, reason: str) -> None:
    async def main() -> str:
        heard: asyncio.Queue[str] = asyncio.Queue()
        stop_on_signals(heard.put_nowait)
        os.kill(os.getpid(), number)
        return await asyncio.wait_for(heard.get(), 5)

    assert asyncio.run(main()) == reason
