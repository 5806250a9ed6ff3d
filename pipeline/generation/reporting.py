"""Says how a run goes: the tick that proves that the loop turns, counts while they move, a few answers to look at."""

import asyncio
import time
from collections.abc import Callable, Sequence

from pipeline.events import LengthsCounted, SampleLogged, StatusChanged, Warned
from pipeline.generation.dataset import DatasetRun, Phase
from pipeline.responses.record import Failure, Response
from pipeline.stage import Stage

TICK_S = 1.0
PROGRESS_S = 0.5
LENGTHS_S = 5.0
UNCHANGED_S = 5.0
"""Counts that stand still are told again after so long, since their rates fall."""
QUIET_S = 45.0
"""With nothing finished for so long, the tick says what the run waits for."""
FIRST_SHOWN = 3
SHOW_EVERY_S = 30.0
SAMPLE_CHARS = 4000
ID_CHARS = 200


class Reporter:
    def __init__(self, stage: Stage, datasets: Sequence[DatasetRun], *, waiting: Callable[[], str]) -> None:
        """`datasets` may still grow. `waiting` tells what the run waits for, as far as it knows."""
        self._stage = stage
        self._datasets = datasets
        self._waiting = waiting
        self._status = self._seen = ("", False)
        self._last_finish = time.monotonic()
        self._told: dict[str, tuple[float, tuple[int, ...]]] = {}
        self._shown: dict[tuple[str, type], tuple[int, float]] = {}
        self._counted: dict[str, int] = {}
        self.paused = False

    async def tick(self) -> None:
        """Every second, for ever. Raises what `Stage.tick` raises."""
        while True:
            self.tell_status()
            self._stage.tick(self._seen[0] or self._quiet())
            await asyncio.sleep(TICK_S)

    async def watch_progress(self) -> None:
        """Twice a second, for ever. Raises DiskFullError."""
        while True:
            now = time.monotonic()
            for dataset in self._datasets:
                if dataset.phase is Phase.ACTIVE and self._is_news(dataset, now):
                    self._stage.emit(dataset.progress(now))
            await asyncio.sleep(PROGRESS_S)

    async def watch_lengths(self) -> None:
        """Every few seconds, for ever. Raises DiskFullError."""
        while True:
            self.tell_lengths()
            await asyncio.sleep(LENGTHS_S)

    def tell_lengths(self) -> None:
        """Emit how long answers are, of each dataset that has more of them than it last told."""
        for dataset in self._datasets:
            lengths = dataset.quota.lengths
            if lengths.answers != self._counted.get(dataset.slug, 0):
                self._counted[dataset.slug] = lengths.answers
                self._stage.emit(LengthsCounted(dataset=dataset.slug, width=lengths.width, counts=tuple(lengths.counts)))

    def tell_status(self, *, at_once: bool = False) -> None:
        """Emit what the run waits for, when that has changed and lasts from one look to the next, or `at_once`."""
        seen, self._seen = self._seen, ("paused" if self.paused else self._waiting(), self.paused)
        status = self._seen
        if at_once or seen == status != self._status:
            self._status = status
            self._stage.emit(StatusChanged(text=status[0], paused=status[1]))

    def kept(self, dataset: DatasetRun, found: Response | Failure) -> None:
        """Something came of a prompt; a few answers and a few failures are worth showing."""
        now = time.monotonic()
        self._last_finish = now
        what = (dataset.slug, type(found))
        shown, last = self._shown.get(what, (0, 0.0))
        if shown >= FIRST_SHOWN and now - last < SHOW_EVERY_S:
            return
        self._shown[what] = (shown + 1, now)
        self._stage.emit(sample_of(found) if isinstance(found, Response) else warning_of(found))

    def _is_news(self, dataset: DatasetRun, now: float) -> bool:
        counts = (dataset.store.answers, dataset.store.failures, dataset.quota.in_flight)
        when, before = self._told.get(dataset.slug, (0.0, ()))
        if counts == before and now - when < UNCHANGED_S:
            return False
        self._told[dataset.slug] = (now, counts)
        return True

    def _quiet(self) -> str:
        silence = time.monotonic() - self._last_finish
        in_flight = sum(dataset.quota.in_flight for dataset in self._datasets)
        if not in_flight:
            self._last_finish = time.monotonic()
        if not in_flight or silence < QUIET_S:
            return ""
        return f"long answers: {in_flight} in flight, none finished for {silence:.0f} s"


def sample_of(response: Response) -> SampleLogged:
    prompt = "\n".join(f"{message['role']}: {message['content']}" for message in response.messages)
    return SampleLogged(
        dataset=response.dataset,
        prompt_id=(response.id or response.key)[:ID_CHARS],
        prompt=(prompt or f"{len(response.prompt_ids)} token ids")[:SAMPLE_CHARS],
        answer=response.text[:SAMPLE_CHARS],
        completion_tokens=response.completion_tokens,
        finish_reason=response.finish_reason,
        engine=response.engine,
        latency_s=response.latency_s,
    )


def warning_of(failure: Failure) -> Warned:
    return Warned(
        text=f"no answer to prompt {(failure.id or failure.key)[:ID_CHARS]}: {failure.reason}", dataset=failure.dataset
    )
