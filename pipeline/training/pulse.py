"""The stage's sign of life while one operation takes long: a step on a large model, a target that loads, a decode eval.

A thread writes the tick, but only as long as the work keeps its word: it says what it begins and how long that may take. A
work that hangs falls silent once its time is over, so a tick still proves that the loop turns.
"""

import threading
import time
from types import TracebackType
from typing import Protocol

from pipeline.errors import PipelineError
from pipeline.event import Event
from pipeline.events import StatusChanged

TICK_S = 1.0
LONG_S = 3.0
"""An operation that lasts so long is named in the tick."""
PATIENCE_S = 600.0


class Living(Protocol):
    """What the pulse needs of a Stage."""

    def emit(self, event: Event) -> None: ...
    def tick(self, waiting_for: str = "") -> None: ...


class Pulse:
    def __init__(self, stage: Living) -> None:
        self._stage = stage
        self._status = ("", False)
        self._doing, self._since, self._patience_s = "starting", time.monotonic(), PATIENCE_S
        self._failure: PipelineError | OSError | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="pulse", daemon=True)

    def begin(self, doing: str, *, patience_s: float = PATIENCE_S) -> None:
        """Say what the loop does from now on. Raises what a tick raised: the supervisor is gone, the disk is full."""
        if self._failure is not None:
            raise self._failure
        self._doing, self._since, self._patience_s = doing, time.monotonic(), patience_s

    def tell(self, text: str, *, paused: bool = False) -> None:
        """Show what is waited for until further notice; `""`: nothing, work flows."""
        if (text, paused) != self._status:
            self._status = (text, paused)
            self._stage.emit(StatusChanged(text=text, paused=paused))

    def __enter__(self) -> "Pulse":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _tick(self) -> None:
        while not self._ended.wait(TICK_S):
            lasted = time.monotonic() - self._since
            if lasted > self._patience_s:
                continue
            try:
                self._stage.tick(self._status[0] or (f"{self._doing}, for {lasted:.0f} s" if lasted > LONG_S else ""))
            except (PipelineError, OSError) as error:
                self._failure = error
                return
