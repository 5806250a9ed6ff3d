"""What people ask of a run while it works. Each wish is answered by an event within a tenth of a second."""

import asyncio
import time
from collections import deque
from typing import Protocol

from pipeline.control import Control, ControlReader, Pause, Resume, SetBudget, SetConcurrency, Stop
from pipeline.errors import ConfigError
from pipeline.event import Event
from pipeline.events import ConcurrencyApplied, Warned
from pipeline.generation.dataset import DatasetRun

POLL_S = 0.1


class Steered(Protocol):
    """A run, as far as it can be steered."""

    concurrency: int
    datasets: list[DatasetRun]
    is_open: bool
    """All datasets are there; before that, wishes wait, except for a stop."""

    def emit(self, event: Event) -> None: ...
    def pause(self, paused: bool) -> None: ...
    def stop(self, reason: str) -> None: ...
    def wake(self) -> None: ...


class Steering:
    def __init__(self, run: Steered, control: ControlReader) -> None:
        self._run = run
        self._control = control
        self._waiting: deque[Control | ConfigError] = deque()

    async def follow(self) -> None:
        """Look for messages, for ever."""
        while True:
            for message in self._control.poll():
                if isinstance(message, Stop):
                    self._run.stop(message.reason or "stopped")
                else:
                    self._waiting.append(message)
            if self._run.is_open:
                self.obey_all()
            await asyncio.sleep(POLL_S)

    def obey_all(self) -> None:
        """Do what was asked for and had to wait."""
        while self._waiting:
            self._obey(self._waiting.popleft())
            self._run.wake()

    def _obey(self, message: Control | ConfigError) -> None:
        match message:
            case SetBudget():
                self._set_budget(message)
            case SetConcurrency():
                self._set_concurrency(message.n)
            case Pause() | Resume():
                self._run.pause(isinstance(message, Pause))
            case ConfigError():
                self._run.emit(Warned(text=str(message)))

    def _set_budget(self, message: SetBudget) -> None:
        for dataset in self._run.datasets:
            if dataset.slug == message.dataset:
                dataset.set_budget(message, time.monotonic())
                return
        self._run.emit(Warned(text=f"a budget for {message.dataset!r}, which is not in this run, changes nothing"))

    def _set_concurrency(self, n: int) -> None:
        if n < 1:
            self._run.emit(Warned(text=f"a concurrency of {n} is none; to hold a run, pause it"))
            return
        previous, self._run.concurrency = self._run.concurrency, n
        self._run.emit(ConcurrencyApplied(concurrency=n, previous=previous))
