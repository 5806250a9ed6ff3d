"""What people ask of a training while it works: stop and pause. Looked at between two steps."""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType

from pipeline.control import ControlReader, Pause, Resume, Stop
from pipeline.errors import ConfigError, InterruptedRunError

SIGNALS = {signal.SIGTERM: "stopped by SIGTERM", signal.SIGINT: "stopped by Ctrl-C"}


class Steering:
    """Inside a `with`, in the main thread, signals ask for a stop instead of ending the process in the middle of something."""

    def __init__(self, control: ControlReader | None, *, warn: Callable[[str], None]) -> None:
        """`control` None: a process that is told by another one."""
        self._control, self._warn = control, warn
        self.stop_reason: str | None = None
        self.paused = False

    def __enter__(self) -> "Steering":
        self._before = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def obey(self) -> None:
        """Take all messages; what means nothing here is warned of."""
        for message in self._control.poll() if self._control is not None else ():
            match message:
                case Stop():
                    self.stop_reason = self.stop_reason or message.reason or "stopped"
                case Pause() | Resume():
                    self.paused = isinstance(message, Pause)
                case ConfigError():
                    self._warn(str(message))
                case _:
                    self._warn(f"{message.kind} changes nothing in a training")

    def raise_if_stopped(self) -> None:
        """Raises InterruptedRunError after a stop: for the time before there is anything to save."""
        self.obey()
        if self.stop_reason is not None:
            raise InterruptedRunError(self.stop_reason)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.stop_reason = self.stop_reason or SIGNALS[signal.Signals(number)]
