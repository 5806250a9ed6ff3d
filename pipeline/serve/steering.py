"""What people ask of a serve run: to stop, and to draft with another checkpoint."""

import asyncio
from collections.abc import Callable

from pipeline.control import ControlReader, Stop, SwapDrafter
from pipeline.errors import ConfigError

POLL_S = 0.1


class Steering:
    def __init__(self, control: ControlReader, *, refusal: Callable[[SwapDrafter], str], warn: Callable[[str], None]) -> None:
        """`refusal` says why a drafter will not do, before anything is ended for it; empty when nothing speaks against it."""
        self._control = control
        self._refusal = refusal
        self._warn = warn
        self.stop_reason: str | None = None
        self.swap: SwapDrafter | None = None
        """The newest one that nobody has taken; take it with `take_swap`."""
        self.asked = asyncio.Event()
        """Set while there is something to obey."""

    def take_swap(self) -> SwapDrafter | None:
        taken, self.swap = self.swap, None
        if self.stop_reason is None:
            self.asked.clear()
        return taken

    async def follow(self) -> None:
        """Look for messages, for ever."""
        while True:
            for message in self._control.poll():
                match message:
                    case Stop():
                        self.stop(message.reason or "stopped")
                    case SwapDrafter():
                        self._ask_to_swap(message)
                    case ConfigError():
                        self._warn(str(message))
                    case _:
                        self._warn(f"{message.kind} changes nothing in a serve run")
            await asyncio.sleep(POLL_S)

    def _ask_to_swap(self, swap: SwapDrafter) -> None:
        if reason := self._refusal(swap):
            self._warn(f"the drafter stays as it is: {reason}")
            return
        self.swap = swap
        self.asked.set()

    def stop(self, reason: str) -> None:
        self.stop_reason = self.stop_reason or reason
        self.asked.set()
