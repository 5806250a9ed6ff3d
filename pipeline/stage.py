"""What every stage does around its work: say that it starts, how it ended and why, and exit with the matching code."""

import logging
import os
import platform
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pipeline import early_stop
from pipeline.artifacts import AttemptFolder, naming_full_disks, write_tick
from pipeline.control import ControlReader
from pipeline.errors import DiskFullError, InterruptedRunError, PipelineError
from pipeline.event import Event
from pipeline.events import EventWriter, StageFailed, StageFinished, StageInterrupted, StageStarted
from pipeline.lifeline import is_cut, tie_to

FINISHED, FAILED, MISUSED, INTERRUPTED = range(4)
"""Exit codes."""
LAST_WORDS = 16 * 1024
"""Bytes kept free, so that a stage that dies of a full disk can still say so."""
PACKAGES = ("tokenizers", "transformers", "torch", "aiohttp")

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a stage's work ended, when it did not fail."""

    summary: dict[str, Any] = field(default_factory=dict)
    interrupted: str | None = None
    """Who or what asked for the stop; None when the work is done."""


class Stage:
    """One attempt at one stage, seen from inside its process."""

    def __init__(self, name: str, folder: AttemptFolder, *, control: bool = False, supervisor: int | None = None) -> None:
        """With `control`, messages are read from standard input. Raises InterruptedRunError when `supervisor` is gone."""
        if supervisor is not None:
            tie_to(supervisor)
        self.name = name
        self.folder = folder
        self.watchers: list[Callable[[Event], None]] = []
        """Told of each event after it was written."""
        self._supervisor = supervisor
        self._writer = EventWriter(folder.events)
        # Unbuffered: a thread that waits in a buffered reader holds its lock, and the interpreter could not exit.
        self.control = ControlReader(os.fdopen(os.dup(0), "rb", buffering=0) if control else None)
        self._reserve = folder.path / ".last-words"

    def emit(self, event: Event) -> None:
        """Write an event, then tell it to the watchers. Raises DiskFullError."""
        with naming_full_disks("events.jsonl", self.folder.path):
            self._writer.emit(event)
        for watcher in self.watchers:
            watcher(event)

    def tick(self, waiting_for: str = "") -> None:
        """Say that the loop turns. Raises InterruptedRunError when the supervisor is gone, DiskFullError."""
        if self._supervisor is not None and is_cut(self._supervisor):
            raise InterruptedRunError("the supervisor is gone")
        with naming_full_disks("heartbeat", self.folder.path):
            write_tick(self.folder, waiting_for=waiting_for)

    async def carry_out(self, work: Callable[[], Awaitable[Outcome]], *, config_hash: str, inputs: dict[str, str]) -> int:
        """Do the work between a first and a last event; the exit code."""
        try:
            self._keep_room()
            self.emit(StageStarted(stage=self.name, config_hash=config_hash, inputs=inputs, versions=versions()))
            self.tick()
            if (reason := early_stop.asked()) is not None:
                raise InterruptedRunError(reason)
            outcome = await work()
            if outcome.interrupted is None:
                self.emit(StageFinished(summary=outcome.summary))
                return FINISHED
            self.emit(StageInterrupted(reason=outcome.interrupted, summary=outcome.summary))
        except InterruptedRunError as error:
            self.emit(StageInterrupted(reason=str(error)))
        except PipelineError as error:
            # Its text is the whole story for a person; where in the code it was found is not.
            log.error("%s failed: %s", self.name, error)
            self.fail(str(error))
            return FAILED
        except OSError as error:
            log.exception("%s failed", self.name)
            self.fail(str(error))
            return FAILED
        finally:
            self._reserve.unlink(missing_ok=True)
        return INTERRUPTED

    def fail(self, reason: str) -> None:
        """Say why the stage failed; on a full disk in the room that was kept for it."""
        self._reserve.unlink(missing_ok=True)
        try:
            self.emit(StageFailed(reason=reason, kept="everything that was written before"))
        except DiskFullError:
            log.exception("the reason of the failure found no room in events.jsonl")

    def close(self) -> None:
        self._writer.close()

    def _keep_room(self) -> None:
        with naming_full_disks(self._reserve.name, self.folder.path):
            self._reserve.write_bytes(bytes(LAST_WORDS))


def versions() -> dict[str, str]:
    """What runs here: Python and the packages that results depend on, where they are installed."""
    found = {"python": platform.python_version(), "platform": sys.platform}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
