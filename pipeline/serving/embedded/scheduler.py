"""Continuous batching: requests join and leave the running batch at every step.

One thread owns the model. Each turn of its loop reads at most PREFILL_TOKENS of waiting prompts, so that a long prompt does not
stall those that decode, and then makes one step for all that decode. Jobs that decode occupy the slots 0 … n−1, the one
being prefilled slot n; when a job leaves, the last one takes its slot.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.errors import EngineBusyError
from pipeline.lean_ops import argmax
from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.draft_counts import DraftCounts
from pipeline.serving.embedded.draft_source import DraftSource
from pipeline.serving.embedded.job import Job
from pipeline.serving.embedded.runner import HiddenStates, Runner
from pipeline.serving.embedded.sampling import choose
from pipeline.serving.embedded.stepping import verify
from pipeline.serving.embedded.throughput import Throughput
from pipeline.serving.embedded.verification import Verdict

PREFILL_TOKENS = 512

Progress = Callable[[Sequence[Job]], None]
Observer = Callable[[Job, int, HiddenStates], None]
"""Gets a job, the position of the first of some tokens that the model has read of it, and their states, in the model thread.

Positions come in order, each once, of the prompt and of the answer but its last token, which the model never reads; the last
call comes before the job is told as finished. The states are views into the forward's own: copy what is to be kept.
"""


@dataclass(frozen=True, kw_only=True)
class Limits:
    max_running: int
    max_queued: int | None
    """Jobs that may wait; None for no limit."""
    max_total_tokens: int
    """Tokens of cache that all running jobs together may come to hold."""


class Scheduler:
    def __init__(
        self,
        runner: Runner,
        limits: Limits,
        on_progress: Progress,
        *,
        source: DraftSource | None = None,
        observer: Observer | None = None,
    ) -> None:
        """`on_progress` is called in the model thread, after each step, with the jobs that got a token or an end.

        With a `source` each step verifies its drafts. An `observer` needs a runner that watches layers; where both do, the
        same ones.
        """
        self._runner = runner
        self._source = source
        self._observer = observer
        if source is not None and source.feature_layers:
            runner.watch(source.feature_layers)
        self._limits = limits
        self._on_progress = on_progress
        self._changed = threading.Condition()
        self._queue: deque[Job] = deque()
        self._decoding: list[Job] = []
        """Index = slot."""
        self._prefilling: Job | None = None
        self._stopping = False
        self.steps = 0
        """Forwards of the model so far: proof of life."""
        self._throughput = Throughput()
        self._verified = DraftCounts()
        """Of all jobs since the start."""

    @property
    def running(self) -> int:
        return len(self._decoding) + (self._prefilling is not None)

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def gen_throughput(self) -> float:
        """Completion tokens a second, all jobs together, lately; 0 when idle."""
        return self._throughput.value

    @property
    def accept_length(self) -> float | None:
        """Tokens a verification gave, all jobs since the start; None without drafts."""
        return self._verified.correct / self._verified.verify_ct + 1 if self._verified.verify_ct else None

    def submit(self, jobs: Sequence[Job]) -> None:
        """Take all of them or none. Raises EngineBusyError when they do not fit into the queue."""
        with self._changed:
            idle = max(0, self._limits.max_running - self.running)
            if self._limits.max_queued is not None and len(self._queue) + len(jobs) > self._limits.max_queued + idle:
                raise EngineBusyError("The request queue is full.")
            self._queue.extend(jobs)
            self._changed.notify()

    def wake(self) -> None:
        """Let the loop notice jobs whose `abort_reason` was set."""
        with self._changed:
            self._changed.notify()

    def stop(self) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify()

    def run(self) -> None:
        """The model thread: until `stop`."""
        while self._wait_for_work():
            self.turn()

    def turn(self) -> None:
        """One turn of the loop; for a caller without a model thread, until nothing runs or waits."""
        touched = self._drop_aborted()
        touched += self._prefill()
        touched += self._step()
        if touched:
            self._on_progress(touched)

    def _wait_for_work(self) -> bool:
        with self._changed:
            while not (self._stopping or self._queue or self._decoding or self._prefilling):
                self._throughput.idle()
                self._changed.wait()
            return not self._stopping

    def _drop_aborted(self) -> list[Job]:
        with self._changed:
            everywhere = [*self._decoding, *self._queue, *([self._prefilling] if self._prefilling else [])]
            aborted = [job for job in everywhere if job.abort_reason is not None]
            for job in aborted:
                job.finish({"type": "abort", "message": job.abort_reason}, time.perf_counter())
                if job in self._queue:
                    self._queue.remove(job)
        self._leave(aborted)
        return aborted

    def _leave(self, jobs: Sequence[Job]) -> None:
        """Free the slots of finished jobs, and close the gaps."""
        for job in jobs:
            if job is self._prefilling:
                self._clear(len(self._decoding))
                self._prefilling = None
            elif job in self._decoding:
                slot, last = self._decoding.index(job), len(self._decoding) - 1
                self._clear(slot)
                moved = self._decoding.pop()
                if slot != last:
                    self._move(last, slot)
                    self._decoding[slot] = moved
                if self._prefilling is not None:
                    self._move(last + 1, last)

    def _clear(self, slot: int) -> None:
        for holder in (self._runner, self._source):
            if holder is not None:
                holder.clear(slot)

    def _move(self, source: int, target: int) -> None:
        for holder in (self._runner, self._source):
            if holder is not None:
                holder.move(source, target)

    def _prefill(self) -> list[Job]:
        """Read up to PREFILL_TOKENS of prompts; each prompt read to its end gives its first token."""
        left = PREFILL_TOKENS
        touched: list[Job] = []
        while left > 0 and (job := self._next_prompt()) is not None:
            slot, start = len(self._decoding), job.prefilled
            part = job.input_ids[start : start + left]
            logits = self._runner.extend(slot, part)
            states = self._runner.states
            self.steps += 1
            self._observe(job, start, states)
            job.prefilled += len(part)
            left -= len(part)
            if job.prefilled == len(job.input_ids):
                self._prefilling = None
                self._decoding.append(job)
                self._hand_out([job], [Verdict(tokens=[choose(logits, job, int(argmax(logits)))], depths=[0])])
                touched.append(job)
            if self._source is not None and job.finish_reason is None:
                after = (*job.input_ids[start + 1 : job.prefilled + 1], *job.output_ids)
                self._source.read(slot, after, states)
        return touched

    def _next_prompt(self) -> Job | None:
        with self._changed:
            if self._prefilling is None and self._queue and self._fits(self._queue[0]):
                self._prefilling = self._queue.popleft()
                self._prefilling.started = time.perf_counter()
        return self._prefilling

    def _fits(self, job: Job) -> bool:
        reserved = sum(other.reserved for other in self._decoding)
        return len(self._decoding) < self._limits.max_running and reserved + job.reserved <= self._limits.max_total_tokens

    def _step(self) -> list[Job]:
        """One token or more for all that decode: those drafts that the target agrees to, and one of its own."""
        if not self._decoding:
            return []
        jobs = self._decoding[:]
        drafts = self._drafts(jobs)
        results = verify(self._runner, jobs, drafts)
        self.steps += 1
        for slot, (job, draft, (verdict, states)) in enumerate(zip(jobs, drafts, results, strict=True)):
            self._observe(job, job.read, states)
            if self._source is not None:
                self._source.read(slot, verdict.tokens, states)
                for counts in (job.drafts, self._verified):
                    counts.add(proposed=len(draft) - 1, correct=verdict.correct)
        self._hand_out(jobs, [verdict for verdict, _ in results])
        return jobs

    def _drafts(self, jobs: Sequence[Job]) -> list[Draft]:
        """As many guesses as answer and cache have room for."""
        if self._source is None:
            return [Draft((job.output_ids[-1],)) for job in jobs]
        room = self._runner.context_length
        return [
            draft.cut(nodes=room - job.read, depth=job.left - 1)
            for job, draft in zip(jobs, self._source.propose(jobs), strict=True)
        ]

    def _observe(self, job: Job, start: int, states: HiddenStates | None) -> None:
        if self._observer is not None and states is not None:
            self._observer(job, start, states)

    def _hand_out(self, jobs: Sequence[Job], verdicts: Sequence[Verdict]) -> None:
        now = time.perf_counter()
        self._throughput.count(sum(len(verdict.tokens) for verdict in verdicts), now)
        for job, verdict in zip(jobs, verdicts, strict=True):
            for token, depth in zip(verdict.tokens, verdict.depths, strict=True):
                job.take(token, now, depth)
        self._leave([job for job in jobs if job.finish_reason is not None])
