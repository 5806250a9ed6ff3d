"""The stage's sign of life, given by the work itself, and the ear for those who want it to stop."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.pool import ThreadPool
from types import FrameType
from typing import TypeVar

from pipeline.control import Pause, Resume, Stop
from pipeline.errors import ConfigError, InterruptedRunError
from pipeline.events import StatusChanged, Warned
from pipeline.stage import Stage

T = TypeVar("T")

TICK_S = 1.0
WAIT_S = 0.2


class Pulse:
    """Calling it is cheap; it does something once a second, or at once after a signal."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._last = 0.0
        self._stop: str | None = None
        self._paused = False

    def __call__(self, waiting_for: str = "") -> None:
        """Tick, and obey what was said. Raises InterruptedRunError when the stage is to stop; waits here while paused."""
        now = time.monotonic()
        if self._stop is None and now - self._last < TICK_S:
            return
        self._last = now
        self._stage.tick(waiting_for)
        self._obey()
        while self._paused:
            self._stage.tick("paused")
            time.sleep(WAIT_S)
            self._obey()

    def during(self, work: Callable[[], T], *, doing: str) -> T:
        """Let `work` run in a thread of its own, and tick while it lasts, saying what is waited for. Raises what it raises."""
        self._stage.emit(StatusChanged(text=doing))
        # Its thread is a daemon: a stage that is stopped while a large model loads does not wait for it.
        pool = ThreadPool(1)
        try:
            running = pool.apply_async(work)
            while not running.ready():
                running.wait(WAIT_S)
                self(doing)
        finally:
            pool.close()
        self._stage.emit(StatusChanged(text=""))
        return running.get()

    @contextmanager
    def hearing_signals(self) -> Iterator[None]:
        """SIGTERM and Ctrl-C ask for a stop instead of ending the process in the middle of something."""
        before = {number: signal.signal(number, self._on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._stop = "stopped by Ctrl-C" if number == signal.SIGINT else "stopped by SIGTERM"

    def _obey(self) -> None:
        for message in self._stage.control.poll():
            match message:
                case Stop():
                    self._stop = self._stop or message.reason or "stopped"
                case Pause() | Resume():
                    self._paused = isinstance(message, Pause)
                    self._stage.emit(StatusChanged(text="paused" if self._paused else "", paused=self._paused))
                case ConfigError():
                    self._stage.emit(Warned(text=str(message)))
        if self._stop is not None:
            raise InterruptedRunError(self._stop)
