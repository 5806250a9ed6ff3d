"""SIGTERM and Ctrl-C as wishes to stop, for stages that run in an event loop."""

import asyncio
import signal
from collections.abc import Callable

REASONS = {signal.SIGTERM: "stopped by SIGTERM", signal.SIGINT: "stopped by Ctrl-C"}


def stop_on_signals(stop: Callable[[str], object]) -> None:
    """Call `stop` with the reason from now on, in the running loop, instead of ending in the middle of something."""
    loop = asyncio.get_running_loop()
    for number, reason in REASONS.items():
        loop.add_signal_handler(number, stop, reason)
