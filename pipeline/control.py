"""What a supervisor says to its stage: one JSON object a line on standard input.

The end of the input means that the supervisor is gone, and the stage stops as if it had been asked to.
"""

import io
import json
import queue
import threading
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO, ClassVar

from pipeline.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Control:
    kind: ClassVar[str]


@dataclass(frozen=True, kw_only=True)
class SetBudget(Control):
    kind: ClassVar[str] = "set_budget"
    dataset: str
    tokens: int | None
    """Completion tokens to reach; None means no budget."""
    max_samples: int | None = None
    enabled: bool = True
    version: int


@dataclass(frozen=True, kw_only=True)
class SetConcurrency(Control):
    kind: ClassVar[str] = "set_concurrency"
    n: int


@dataclass(frozen=True, kw_only=True)
class Pause(Control):
    kind: ClassVar[str] = "pause"


@dataclass(frozen=True, kw_only=True)
class Resume(Control):
    kind: ClassVar[str] = "resume"


@dataclass(frozen=True, kw_only=True)
class SwapDrafter(Control):
    kind: ClassVar[str] = "swap_drafter"
    drafter: str
    """Folder of a checkpoint; empty for plain decoding."""
    name: str
    """What it is called: run and step."""


@dataclass(frozen=True, kw_only=True)
class Stop(Control):
    kind: ClassVar[str] = "stop"
    reason: str = ""
    """Who asked, in words: `stopped by ada`."""


KINDS: dict[str, type[Control]] = {cls.kind: cls for cls in (SetBudget, SetConcurrency, Pause, Resume, SwapDrafter, Stop)}


def encode(message: Control) -> bytes:
    return json.dumps({"kind": message.kind, **asdict(message)}, separators=(",", ":")).encode() + b"\n"


def parse(line: bytes | str) -> Control:
    """Read one message. Raises ConfigError, naming what is wrong, for anything else."""
    try:
        body: Any = json.loads(line)
        cls = KINDS[body.pop("kind")]
        return cls(**body)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"not a control message: {line!r} ({error})") from error


class ControlReader:
    """Reads messages in a thread of its own; the stage's loop takes them with `poll` and never blocks on them."""

    def __init__(self, stream: BinaryIO | io.RawIOBase | None) -> None:
        self._messages: queue.SimpleQueue[Control | ConfigError] = queue.SimpleQueue()
        if stream is not None:
            threading.Thread(target=self._read, args=(stream,), name="control", daemon=True).start()

    def _read(self, stream: BinaryIO | io.RawIOBase) -> None:
        for line in iter(stream.readline, b""):
            try:
                self._messages.put(parse(line))
            except ConfigError as error:
                self._messages.put(error)
        self._messages.put(Stop(reason="the supervisor is gone"))

    def poll(self) -> list[Control | ConfigError]:
        """All messages since the last call, oldest first; a broken line comes as the ConfigError that it caused."""
        found: list[Control | ConfigError] = []
        while True:
            try:
                found.append(self._messages.get_nowait())
            except queue.Empty:
                return found
