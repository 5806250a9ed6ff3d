"""What a stage says about itself: typed, numbered facts, one JSON object a line in `events.jsonl`.

A line is `{"seq": 7, "t": "2026-11-30T11:24:13.512345Z", "kind": "dataset_skipped", …fields}`. Numbers start at 1 in each
attempt and have no gaps. The file is the truth and the database a copy of it, so a line is flushed before anything acts on
it. A reader keeps kinds that it does not know (an older dashboard beside a newer stage) and leaves an unfinished last line
for its next look.
"""

import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from pipeline.drafter_events import (
    AnswerDrafted,
    BenchmarkMeasured,
    BenchmarkSummarised,
    CheckpointSaved,
    DecodeEvalLogged,
    EvalLogged,
    ExtractionProgress,
    ShardWritten,
    StepLogged,
)
from pipeline.event import Event as Event
from pipeline.server_events import (
    DrafterSwapped,
    ServerDraining,
    ServerEnded,
    ServerLoading,
    ServerMeasured,
    ServerReady,
    ServerStarted,
)


@dataclass(frozen=True, kw_only=True)
class StageStarted(Event):
    kind: ClassVar[str] = "stage_started"
    stage: str
    config_hash: str
    inputs: dict[str, str] = field(default_factory=dict)
    """What was read, as name → content hash."""
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StatusChanged(Event):
    """What the stage waits for or does between countable steps, in words for a person (`""` when work flows)."""

    kind: ClassVar[str] = "status_changed"
    text: str
    paused: bool = False


@dataclass(frozen=True, kw_only=True)
class DatasetStarted(Event):
    kind: ClassVar[str] = "dataset_started"
    dataset: str
    prompts: int
    """Prompts in the revision."""
    done: int
    """Answers already on disk."""
    tokens: int
    """Completion tokens already on disk."""
    budget: int | None
    max_samples: int | None = None
    budget_version: int


@dataclass(frozen=True, kw_only=True)
class DatasetSkipped(Event):
    kind: ClassVar[str] = "dataset_skipped"
    dataset: str
    reason: str
    """budget_met | max_samples | exhausted | disabled."""
    tokens: int
    budget: int | None
    done: int = 0
    prompts: int = 0
    errors: int = 0
    """Prompts that gave an error before; only a run that retries errors asks them again."""
    budget_version: int


@dataclass(frozen=True, kw_only=True)
class GenerationProgress(Event):
    """Counts of one dataset, absolute (never increments), at most twice a second for each dataset that moves."""

    kind: ClassVar[str] = "generation_progress"
    dataset: str
    done: int
    """Answers on disk, errors not counted."""
    total: int
    """Prompts in the revision."""
    errors: int
    truncated: int
    """Answers with finish reason `length`."""
    tokens: int
    """Completion tokens on disk."""
    in_flight: int
    """Requests sent and not answered."""
    in_flight_tokens: int
    """Expected completion tokens of these."""
    requests_per_s: float
    tokens_per_s: float
    mean_completion: float
    """Mean completion tokens of an answer."""
    longest: int
    eta_s: float | None
    """Seconds until this dataset's budget is met; None while unknown."""


@dataclass(frozen=True, kw_only=True)
class BudgetApplied(Event):
    """The stage's acknowledgement of a budget edit."""

    kind: ClassVar[str] = "budget_applied"
    dataset: str
    budget: int | None
    max_samples: int | None = None
    previous: int | None
    budget_version: int


@dataclass(frozen=True, kw_only=True)
class ConcurrencyApplied(Event):
    kind: ClassVar[str] = "concurrency_applied"
    concurrency: int
    previous: int


@dataclass(frozen=True, kw_only=True)
class EngineChanged(Event):
    """An engine was slowed down, drained, tried again or taken back."""

    kind: ClassVar[str] = "engine_changed"
    engine: str
    state: str
    """ok | busy | down."""
    reason: str
    in_flight: int = 0


@dataclass(frozen=True, kw_only=True)
class DatasetFinished(Event):
    kind: ClassVar[str] = "dataset_finished"
    dataset: str
    reason: str
    """budget_met | exhausted | max_samples | disabled | stopped."""
    done: int
    total: int
    tokens: int
    budget: int | None
    errors: int
    truncated: int
    longest: int
    finish_reasons: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SampleLogged(Event):
    """One answer worth showing. Text is untrusted and cut to 4,000 characters each."""

    kind: ClassVar[str] = "sample_logged"
    dataset: str
    prompt_id: str
    prompt: str
    answer: str
    completion_tokens: int
    finish_reason: str
    engine: str
    latency_s: float


@dataclass(frozen=True, kw_only=True)
class LengthsCounted(Event):
    """How long one dataset's answers are, all of them counted anew; now and then while it works, and when it ends."""

    kind: ClassVar[str] = "lengths_counted"
    dataset: str
    width: int
    """Completion tokens in a bin."""
    counts: tuple[int, ...]
    """counts[i] answers have i · width ≤ tokens < (i + 1) · width; empty bins at the end are left out."""


@dataclass(frozen=True, kw_only=True)
class Warned(Event):
    """Something that a person should know and that did not stop the run."""

    kind: ClassVar[str] = "warning"
    text: str
    dataset: str | None = None


@dataclass(frozen=True, kw_only=True)
class StageInterrupted(Event):
    """Asked to stop, and stopped with its work saved."""

    kind: ClassVar[str] = "stage_interrupted"
    reason: str
    summary: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StageFailed(Event):
    kind: ClassVar[str] = "stage_failed"
    reason: str
    kept: str = ""
    """What is kept, in words for a person."""


@dataclass(frozen=True, kw_only=True)
class StageFinished(Event):
    kind: ClassVar[str] = "stage_finished"
    summary: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class UnknownEvent(Event):
    """A kind that this version does not know; kept and shown raw."""

    kind: ClassVar[str] = "unknown"
    name: str
    payload: dict[str, Any]


KINDS: dict[str, type[Event]] = {
    cls.kind: cls
    for cls in (
        StageStarted, StatusChanged, DatasetStarted, DatasetSkipped, GenerationProgress, BudgetApplied, ConcurrencyApplied,
        EngineChanged, DatasetFinished, SampleLogged, LengthsCounted, Warned, StageInterrupted, StageFailed, StageFinished,
        ExtractionProgress, ShardWritten, StepLogged, EvalLogged, DecodeEvalLogged, CheckpointSaved, BenchmarkMeasured,
        BenchmarkSummarised, AnswerDrafted, ServerStarted, ServerLoading, ServerReady, ServerMeasured, ServerDraining,
        ServerEnded, DrafterSwapped,
    )
}  # fmt: skip

LAST_KINDS = frozenset({StageInterrupted.kind, StageFailed.kind, StageFinished.kind})
"""One of these ends a stage's own account; a file without one belongs to a stage that died."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One numbered line of an event file, as read back."""

    seq: int
    t: datetime
    kind: str
    payload: dict[str, Any]
    """The event's fields, as they stand in the file."""

    @property
    def event(self) -> Event:
        """The typed event; an `UnknownEvent` when the kind or its fields are not known here."""
        cls = KINDS.get(self.kind)
        names = {f.name for f in fields(cls)} if cls else set()
        if cls is None or set(self.payload) - names:
            return UnknownEvent(name=self.kind, payload=self.payload)
        try:
            return cls(**self.payload)
        except TypeError:
            return UnknownEvent(name=self.kind, payload=self.payload)


def encode(event: Event, *, seq: int, now: datetime) -> bytes:
    """One line of the file, newline included, ASCII only so that no reader can split it elsewhere."""
    body: dict[str, Any] = {"seq": seq, "t": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "kind": event.kind}
    body |= {f.name: getattr(event, f.name) for f in fields(event)}
    return json.dumps(body, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def parse(line: bytes | str) -> Line:
    """Read one line. Raises ValueError when it is not an event at all."""
    body: Any = json.loads(line)
    if not isinstance(body, Mapping) or not {"seq", "t", "kind"} <= set(body):
        raise ValueError("not an event: it needs seq, t and kind")
    payload = {k: v for k, v in body.items() if k not in ("seq", "t", "kind")}
    moment = datetime.fromisoformat(str(body["t"]).replace("Z", "+00:00")).astimezone(UTC)
    return Line(seq=int(body["seq"]), t=moment, kind=str(body["kind"]), payload=payload)


def read_events(path: Path, *, offset: int = 0) -> Iterator[tuple[Line, int]]:
    """Yield `(line, byte offset after it)` for each finished line from `offset` on; a torn last line is left alone."""
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(offset)
        for raw in file:
            if not raw.endswith(b"\n"):
                return
            offset += len(raw)
            yield parse(raw), offset


class EventWriter:
    """Appends numbered events to one file. Safe from several threads; each line reaches the kernel before `emit` returns."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._seq = 0
        self._file = path.open("ab", buffering=0)

    def emit(self, event: Event) -> int:
        """Write the event and return its number. Raises OSError on a full disk; no part of the line is left then."""
        with self._lock:
            descriptor = self._file.fileno()
            before = os.fstat(descriptor).st_size
            view = memoryview(encode(event, seq=self._seq + 1, now=datetime.now(UTC)))
            try:
                while view:
                    view = view[os.write(descriptor, view) :]
            except OSError:
                os.ftruncate(descriptor, before)
                raise
            self._seq += 1
            return self._seq

    def close(self) -> None:
        self._file.close()
