"""The engine behind the HTTP server: a model thread that loads and serves, and what the event loop needs to know of it.

The two sides meet at three points: `submit` and `abort` go to the model thread, and its progress comes into the event loop
once a step.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence

from pipeline.errors import BadRequestError, ConfigError, EngineBusyError, PipelineError
from pipeline.serving.embedded.capture import Capture
from pipeline.serving.embedded.job import Job, new_job
from pipeline.serving.embedded.loading import LoadedModel
from pipeline.serving.embedded.requests import CaptureName, SamplingParams, check_prompt
from pipeline.serving.embedded.scheduler import Limits, Scheduler


class Engine:
    """All methods but `_run` belong to the event loop."""

    def __init__(
        self,
        load: Callable[[], LoadedModel],
        *,
        max_running: int,
        max_queued: int | None = None,
        capture: Capture | None = None,
        on_ready: Callable[[], None] = lambda: None,
        on_death: Callable[[str], None] = lambda _reason: None,
    ) -> None:
        """`on_ready` and `on_death` (not asked to stop, with the reason) are called in the model thread."""
        self._load = load
        self._max_running = max_running
        self._max_queued = max_queued
        self.capture = capture
        self._on_ready = on_ready
        self._on_death = on_death
        self._thread = threading.Thread(target=self._run, name="model", daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._serving: tuple[LoadedModel, Scheduler] | None = None
        self._stopping = False
        self._jobs: dict[str, Job] = {}
        """By request id, those without an end."""
        self._news: dict[Job, asyncio.Event] = {}

    @property
    def is_ready(self) -> bool:
        return self._serving is not None and self._thread.is_alive()

    @property
    def model(self) -> LoadedModel:
        """Raises EngineBusyError (503) while it loads."""
        return self._loaded()[0]

    @property
    def scheduler(self) -> Scheduler:
        """Raises EngineBusyError (503) while the model loads."""
        return self._loaded()[1]

    def start(self) -> None:
        """Begin to load the model."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def stop(self) -> None:
        """End the model thread after its current step; one that still loads ends with the process."""
        self._stopping = True
        if self._serving is not None:
            self.scheduler.stop()
            self._thread.join()
        if self.capture is not None:
            self.capture.close()

    def submit(
        self,
        prompts: Sequence[tuple[int, ...]],
        sampling: SamplingParams,
        rids: Sequence[str],
        capture: CaptureName | None = None,
    ) -> list[Job]:
        """Queue all prompts or none. Raises BadRequestError, or EngineBusyError when the queue is full."""
        model, scheduler = self._loaded()
        for ids in prompts:
            check_prompt(ids, sampling, vocab_size=model.runner.vocab_size, context_length=model.runner.context_length)
        twice = next((rid for n, rid in enumerate(rids) if rid in self._jobs or rid in rids[:n]), None)
        if twice is not None:
            raise BadRequestError(f"duplicate request id: {twice}")
        jobs = [new_job(rid, ids, sampling, model.eos_ids) for rid, ids in zip(rids, prompts, strict=True)]
        if capture is not None and self.capture is not None:
            self.capture.expect(jobs[0], capture)
        scheduler.submit(jobs)
        for job in jobs:
            self._jobs[job.rid] = job
            self._news[job] = asyncio.Event()
        return jobs

    async def news(self, job: Job) -> bool:
        """Wait until there are more tokens or an end; whether it is the end."""
        if job.finish_reason is None:
            event = self._news[job]
            await event.wait()
            event.clear()
        return job.finish_reason is not None

    async def finished(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            while not await self.news(job):
                pass

    def abort(self, jobs: Sequence[Job], reason: str) -> None:
        """End jobs early; those that have ended stay as they are."""
        for job in jobs:
            job.abort_reason = reason
        self.scheduler.wake()

    def unfinished(self, rid: str | None = None) -> list[Job]:
        """The job with this id, or all."""
        return [job for job in self._jobs.values() if rid in (None, job.rid)]

    def _loaded(self) -> tuple[LoadedModel, Scheduler]:
        if self._serving is None:
            raise EngineBusyError("The server is starting.")
        return self._serving

    def _deliver(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            if job not in self._news:
                continue  # a job that ended within the step that is delivered next
            self._news[job].set()
            if job.finish_reason is not None:
                del self._jobs[job.rid], self._news[job]

    def _run(self) -> None:
        reason = "the model thread ended with an error"
        try:
            model = self._load()
            limits = Limits(
                max_running=min(self._max_running, model.runner.slots),
                max_queued=self._max_queued,
                max_total_tokens=model.max_total_tokens,
            )
            observer = None
            if self.capture is not None:
                if model.source is not None and model.source.feature_layers not in ((), self.capture.layers):
                    raise ConfigError("the drafter reads other layers than those that are captured")
                model.runner.watch(self.capture.layers)
                observer = self.capture.observe
            scheduler = Scheduler(model.runner, limits, self._tell, source=model.source, observer=observer)
            self._serving = (model, scheduler)
            self._on_ready()
            scheduler.run()
        except PipelineError as error:
            reason = str(error)
        finally:
            if not self._stopping:
                self._on_death(reason)

    def _tell(self, jobs: Sequence[Job]) -> None:
        if self.capture is not None:
            for job in jobs:
                if job.finish_reason is not None:
                    self.capture.finish(job)
        self._loop.call_soon_threadsafe(self._deliver, jobs)
