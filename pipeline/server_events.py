"""What a serve stage says about the inference server that it starts and watches. Each start has a number, from 1."""

from dataclasses import dataclass
from typing import ClassVar

from pipeline.event import Event


@dataclass(frozen=True, kw_only=True)
class ServerStarted(Event):
    kind: ClassVar[str] = "server_started"
    number: int
    """From 1 in each attempt."""
    pid: int
    url: str
    """Where it will answer."""
    version: str
    """SGLang's."""
    drafter: str
    """What the drafter is called; empty without one."""
    command: tuple[str, ...]
    log: str
    """Name of its log in the attempt's folder."""


@dataclass(frozen=True, kw_only=True)
class ServerLoading(Event):
    """How far the start is, as the server's log tells; at most twice a second."""

    kind: ClassVar[str] = "server_loading"
    number: int
    phase: str
    """importing | weights | memory | graphs | warming up."""
    what: str
    """Such as `LlamaForCausalLM`, `target decode`; may be empty."""
    done: int
    total: int
    """Shards of weights, or graphs; 0 where nothing is counted."""


@dataclass(frozen=True, kw_only=True)
class ServerReady(Event):
    """It generated a token for us."""

    kind: ClassVar[str] = "server_ready"
    number: int
    engine: str
    """The name by which runs choose it."""
    url: str
    seconds: float
    """From its start."""
    model: str
    context_length: int | None


@dataclass(frozen=True, kw_only=True)
class ServerMeasured(Event):
    """What it does now, every few seconds; it proves as well that it answers."""

    kind: ClassVar[str] = "server_measured"
    number: int
    running: int
    waiting: int
    tokens_per_s: float
    accept_length: float | None
    """None without a drafter, and before the first draft was verified."""


@dataclass(frozen=True, kw_only=True)
class ServerDraining(Event):
    """It will be ended: what it works on is waited for, until the deadline."""

    kind: ClassVar[str] = "server_draining"
    number: int
    reason: str
    deadline_s: float


@dataclass(frozen=True, kw_only=True)
class ServerEnded(Event):
    kind: ClassVar[str] = "server_ended"
    number: int
    reason: str
    wanted: bool
    """Whether we ended it; else it ended by itself, or was ended because it hung."""
    retry_in_s: float | None = None
    """When the next one starts; None when none does, or at once."""
    failures: int = 0
    """In a row."""


@dataclass(frozen=True, kw_only=True)
class DrafterSwapped(Event):
    """The server was told to draft with another checkpoint; it starts again with it, drained first."""

    kind: ClassVar[str] = "drafter_swapped"
    drafter: str
    """Folder; empty for none."""
    name: str
    previous: str
    """What the one before was called."""
